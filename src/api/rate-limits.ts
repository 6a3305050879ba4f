// Rate limits. An operator sets any; an organization's admins set lower ones for it, and remove these again.
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import type { RateChange } from "../registry/rate-limits.ts";
import { endpoint, type PersonCaller } from "./endpoint.ts";
import { id } from "./shapes/fields.ts";
import {
  listRateLimitsInput,
  modelLimitQuery,
  rateLimit,
  rateLimitList,
  setModelLimitInput,
  setRateLimitInput,
  setRateLimitRecordInput,
} from "./shapes/rate-limits.ts";

export const rateLimitsEndpoints = [
  endpoint({
    target: "GET /app/v1/orgs/{org}/limits",
    who: "limits.see",
    input: listRateLimitsInput.extend({ org: id }),
    output: rateLimitList,
    run: ({ input }, { operator }) => operator.rateLimits.of(input),
  }),
  endpoint({
    target: "PATCH /app/v1/orgs/{org}/limits",
    who: "limits.change",
    input: setRateLimitInput,
    output: rateLimit,
    audit: "limits.set",
    run: ({ input: { by, ...asked }, caller }, { operator }) =>
      operator.rateLimits.set(asked, { by: wordOf(caller, by), actor: caller.actor }),
  }),
  endpoint({
    target: "GET /app/v1/operator/limits",
    who: "operate",
    input: modelLimitQuery,
    output: rateLimit,
    run: ({ input }, { operator }) => operator.rateLimits.ofModel(input.model),
  }),
  endpoint({
    target: "PATCH /app/v1/operator/limits",
    who: "operate",
    input: setModelLimitInput,
    output: rateLimit,
    audit: "limits.set",
    run: ({ input, caller }, { operator }) =>
      operator.rateLimits.set(input, { by: "operator", actor: caller.actor }),
  }),
  endpoint({
    target: "POST /admin/v1/limits",
    who: "limits.change",
    summary:
      "Set or remove rate limits (per minute and concurrent) of an organization, a key, a model, or a key and a model",
    input: setRateLimitRecordInput,
    output: rateLimit,
    audit: "limits.set",
    run: ({ input, caller }, { operator }) =>
      operator.rateLimits.set(input, { by: "operator", actor: caller.actor }),
  }),
  endpoint({
    target: "GET /admin/v1/limits",
    who: "limits.see",
    summary:
      "List the rate limits of an organization, a key or a model, its own first; without any of them, the limits on models for each organization",
    input: listRateLimitsInput,
    output: rateLimitList,
    run: ({ input }, { operator }) => operator.rateLimits.of(input),
  }),
] as const;

/** Whose limits a person may set: the operator's, their organization's, or either, as they choose. */
function wordOf({ standings }: PersonCaller, by: RateChange["by"] | undefined): RateChange["by"] {
  const may = {
    operator: standings.includes("operator"),
    organization: standings.some((standing) => standing !== "operator"),
  };
  const chosen = by ?? (may.operator ? "operator" : "organization");
  if (may[chosen]) return chosen;
  throw new OperatorRefusal(
    "role_not_permitted",
    chosen === "operator"
      ? "Only operators set what the operator allows."
      : "Only the organization's owners and admins set its own limits.",
    "by",
  );
}
