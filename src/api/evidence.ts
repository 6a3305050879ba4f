// What proves a charge: the entries of a request, the requests of an entry, and all evidence together.
import { z } from "zod";
import { evidenceOf } from "../reporting/evidence.ts";
import { ledgerEntry, requestEntries } from "../reporting/request-entries.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { ACTIONS, allowance } from "../domain/roles.ts";
import { endpoint, type PersonCaller } from "./endpoint.ts";
import * as shapes from "./shapes/evidence.ts";
import { id } from "./shapes/fields.ts";
import { requestParams } from "./shapes/record-inputs.ts";

const oneRequest = z.strictObject({ org: id, request: id });

export const evidenceEndpoints = [
  endpoint({
    target: "GET /app/v1/orgs/{org}/activity/{request}/entries",
    who: "activity.see",
    input: oneRequest,
    output: shapes.requestEntryList,
    run: ({ input }, { reports }) => requestEntries(reports, input.org, input.request),
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/activity/{request}/evidence",
    who: "activity.see",
    input: oneRequest.extend(shapes.chainQuery),
    output: shapes.evidence,
    run: ({ input: { org, request, chain_from }, caller }, { reports }) => {
      const billing = maySeeBilling(caller);
      if (chain_from !== undefined && !billing) throw notTheirs();
      return evidenceOf(reports, org, { request, chainFrom: chain_from, billing });
    },
  }),
  endpoint({
    target: "GET /app/v1/orgs/{org}/billing/ledger/{entry}",
    who: "billing.see",
    input: z.strictObject({ org: id, entry: z.string().regex(/^[1-9]\d{0,14}$/) }),
    output: shapes.ledgerEntryDetail,
    run: ({ input }, { reports }) => ledgerEntry(reports, input.org, input.entry),
  }),
  endpoint({
    target: "GET /admin/v1/requests/{id}/evidence",
    who: "activity.see",
    summary:
      "Show what proves a request's charge: receipt, signed release, entries of the ledger, public keys",
    input: requestParams.extend(shapes.chainQuery),
    output: shapes.evidence,
    run: ({ input: { id, chain_from } }, { operator }) =>
      operator.requests.evidence({ request: id, chainFrom: chain_from, billing: true }),
  }),
] as const;

/** An operator who is also a member with a lesser role is still an operator. */
const maySeeBilling = ({ standing, signedIn }: PersonCaller): boolean =>
  signedIn.person.operator || allowance(standing, "billing.see") !== null;

const notTheirs = (): OperatorRefusal =>
  new OperatorRefusal(
    "role_not_permitted",
    `Your role may see what a charge is based on, but not the whole ledger. That requires one of these roles: ${Object.keys(ACTIONS["billing.see"]).join(", ")}.`,
    "chain_from",
  );
