// Organizations: the owners of credits and keys.
import { z } from "zod";
import { checkVersion } from "../domain/row-version.ts";
import { namesakes, organizationRow, organizationsPage } from "../reporting/organizations.ts";
import { endpoint } from "./endpoint.ts";
import { id } from "./shapes/fields.ts";
import * as shapes from "./shapes/organizations.ts";
import { createdInvitation } from "./shapes/people.ts";
import { createOrganizationInput, organizationRecordsQuery } from "./shapes/record-inputs.ts";
import { organizationListSchema, organizationSchema } from "./shapes/records.ts";

export const organizationsEndpoints = [
  endpoint({
    target: "GET /app/v1/operator/organizations",
    who: "operate",
    input: shapes.organizationsQuery,
    output: shapes.organizationList,
    run: ({ input }, { reports }) => organizationsPage(reports, input),
  }),
  endpoint({
    target: "GET /app/v1/operator/organizations/namesakes",
    who: "operate",
    input: z.strictObject({}),
    output: shapes.namesakeList,
    run: async (_, { reports }) => ({ data: await namesakes(reports) }),
  }),
  endpoint({
    target: "POST /app/v1/operator/organizations",
    who: "operate",
    input: createOrganizationInput,
    output: shapes.organization,
    status: 201,
    audit: "organization.create",
    run: async ({ input, caller }, { operator, reports }) => {
      const created = await operator.organizations.create(input, caller.actor);
      return await organizationRow(reports, created.id);
    },
  }),
  endpoint({
    target: "PATCH /app/v1/operator/organizations/{org}",
    who: "operate",
    input: shapes.renameOrganizationInput.extend({ org: id }),
    output: shapes.organization,
    audit: "organization.settings",
    run: async ({ input: { org, name: to, version: madeOn }, caller }, { changes, reports }) => {
      const { name, version } = await organizationRow(reports, org);
      checkVersion(madeOn, version);
      await changes.renameOrganization(org, { from: name, to: to.trim() }, caller.actor);
      return await organizationRow(reports, org);
    },
  }),
  endpoint({
    target: "POST /app/v1/operator/organizations/{org}/invitations",
    who: "operate",
    input: shapes.inviteOwnerInput.extend({ org: id }),
    output: createdInvitation,
    status: 201,
    audit: "member.invite",
    run: ({ input, caller }, { operator }) => operator.invitations.invite(input, caller),
  }),
  endpoint({
    target: "POST /admin/v1/organizations",
    who: "operate",
    summary: "Create an organization",
    input: createOrganizationInput,
    output: organizationSchema,
    status: 201,
    audit: "organization.create",
    run: ({ input, caller }, { operator }) => operator.organizations.create(input, caller.actor),
  }),
  endpoint({
    target: "GET /admin/v1/organizations",
    who: "operate",
    summary: "List organizations, oldest first",
    input: organizationRecordsQuery,
    output: organizationListSchema,
    run: ({ input }, { operator }) => operator.organizations.list(input),
  }),
] as const;
