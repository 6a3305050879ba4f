// Limits of a rate. An operator sets any; an organization's admins lower what holds for it, and lift their own word again.
import { endpoint } from "./endpoint.ts";
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
    run: ({ input, caller }, { operator }) =>
      operator.rateLimits.set(input, {
        by: caller.standing === "operator" ? "operator" : "organization",
        actor: caller.actor,
      }),
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
      "Set or lift limits per minute and at once, of an organization, a key, a model, a key and a model",
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
      "List the limits of an organization, a key or a model, what holds for it itself first; without any, those of models for each organization",
    input: listRateLimitsInput,
    output: rateLimitList,
    run: ({ input }, { operator }) => operator.rateLimits.of(input),
  }),
] as const;
