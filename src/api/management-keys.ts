// Management keys: an operator's access without a session; and the login of a command line, which it ends
// itself.
import { z } from "zod";
import { managementKeysPage } from "../reporting/management-keys.ts";
import { endpoint } from "./endpoint.ts";
import { id } from "./shapes/fields.ts";
import * as shapes from "./shapes/management-keys.ts";
import { endedLoginSchema } from "./shapes/records.ts";

export const managementKeysEndpoints = [
  endpoint({
    target: "GET /app/v1/operator/management-keys",
    who: "operate",
    input: shapes.managementKeysQuery,
    output: shapes.managementKeyList,
    run: ({ input }, { reports }) => managementKeysPage(reports, input),
  }),
  endpoint({
    target: "POST /app/v1/operator/management-keys",
    who: "operate",
    input: shapes.createManagementKeyInput,
    output: shapes.createdManagementKey,
    status: 201,
    audit: "management_key.create",
    run: ({ input, caller }, { changes }) => changes.createManagementKey(input.name, caller.actor),
  }),
  endpoint({
    target: "POST /app/v1/operator/management-keys/{key}/revoke",
    who: "operate",
    input: z.strictObject({ key: id }),
    output: shapes.managementKey,
    audit: "management_key.revoke",
    run: ({ input, caller }, { changes }) => changes.revokeManagementKey(input.key, caller.actor),
  }),
] as const;

export const loginsEndpoints = [
  endpoint({
    target: "POST /admin/v1/logout",
    who: "signed_in",
    summary: "Revoke the calling management key",
    input: z.strictObject({}),
    output: endedLoginSchema,
    audit: "management_key.revoke",
    run: ({ caller }, { operator }) => operator.logins.end(caller.actor),
  }),
] as const;
