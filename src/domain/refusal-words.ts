// What each refusal means and what to do about it, for people: the sentences of `docs/errors.md`, which are compared with these.
import type { RefusalCode } from "./refusals.ts";

/** What happened, and what to do next. */
export interface RefusalWords {
  happened: string;
  next: string;
}

export const REFUSAL_WORDS: Record<RefusalCode, RefusalWords> = {
  invalid_api_key: {
    happened: "the key is missing, malformed or does not exist",
    next: "send `Authorization: Bearer gw_sk_…`; check for cut or doubled characters",
  },
  api_key_revoked: {
    happened: "the key was revoked; that is permanent",
    next: "create a new key and replace it where it is used",
  },
  api_key_paused: {
    happened: "the key is paused",
    next: "resume it, or use another key",
  },
  api_key_expired: {
    happened: "the key has expired; that is permanent",
    next: "create a new key; next time, replace it before it expires",
  },
  unknown_url: {
    happened: "the path does not exist",
    next: "use one of the paths that the message names; the base URL ends in `/v1`",
  },
  method_not_allowed: {
    happened: "the path exists but does not accept this method",
    next: "use a method from the `allow` header",
  },
  unsupported_media_type: {
    happened: "the body is not `application/json` in UTF-8, or is compressed",
    next: "send `Content-Type: application/json`, uncompressed",
  },
  payload_too_large: {
    happened: "the body is larger than the gateway's limit",
    next: "send a smaller body; pass images by URL",
  },
  invalid_json: {
    happened:
      "the body is not one JSON document in UTF-8, repeats a key, is nested too deeply, or has a number out of range",
    next: "encode the body with a JSON library",
  },
  too_many_values: {
    happened: "the body has more than 250,000 fields, or 500,000 values (a list or an object counts as two)",
    next: "send fewer, larger values: one message instead of a thousand, text instead of lists of numbers",
  },
  invalid_request: {
    happened:
      "a field is missing, has the wrong type, contradicts another one or has a value that the provider does not accept; or the body came in too many tiny chunks",
    next: "`param` names it",
  },
  integer_above_max_value: {
    happened: "an integer is too large",
    next: "`param` names the field; the message gives the bound",
  },
  integer_below_min_value: {
    happened: "an integer is too small",
    next: "`param` names the field; the message gives the bound",
  },
  decimal_above_max_value: {
    happened: "a number is too large; it is never clamped",
    next: "`param` names the field; the message gives the bound",
  },
  decimal_below_min_value: {
    happened: "a number is too small",
    next: "`param` names the field; the message gives the bound",
  },
  string_above_max_length: {
    happened: "a string is too long",
    next: "`param` names the field; the message gives the bound",
  },
  array_above_max_length: {
    happened: "an array is too long",
    next: "`param` names the field; the message gives the bound",
  },
  unknown_parameter: {
    happened: "the API has no such field",
    next: "remove it; provider, price and route cannot be overridden",
  },
  unsupported_parameter: {
    happened:
      "the field exists, but not here or not for this model, or the model's provider does not support it",
    next: "remove the field that `param` names",
  },
  unsupported_value: {
    happened: "this value is not supported for this model",
    next: "use a value that the message lists",
  },
  raw_token_ids_not_allowed: { happened: "the request has token ids instead of text", next: "send text" },
  runtime_adapter_not_allowed: {
    happened: "the request sets adapters, templates or other switches of a serving engine",
    next: "leave them out",
  },
  contradictory_thinking: {
    happened: "two fields about reasoning contradict each other",
    next: "set it once, preferably with `reasoning_effort`",
  },
  invalid_idempotency_key: {
    happened: "the key is not 8–200 printable ASCII characters without spaces, or was sent twice",
    next: "send a UUID, once",
  },
  context_length_exceeded: {
    happened: "prompt and `max_tokens` exceed the model's context window",
    next: "shorten the prompt or lower `max_tokens`; `details` has the figures",
  },
  content_filter: {
    happened: "the provider refused the prompt under its content policy",
    next: "change the prompt",
  },
  model_not_found: {
    happened: "the model does not exist for this key",
    next: "list the key's models with `GET /v1/models`",
  },
  generation_not_found: {
    happened: "this key made no such request",
    next: "use the id from an answer to the same key",
  },
  response_not_found: {
    happened: "responses are not stored, so they cannot be fetched by id",
    next: "send the whole conversation as `input`; `GET /v1/generation?id=` shows what became of a request",
  },
  receipt_not_ready: {
    happened: "the request is still running, so it has no receipt yet",
    next: "ask again when it has ended",
  },
  insufficient_credits: {
    happened: "the credits do not cover the maximum cost of the call; nothing was sent to a provider",
    next: "add credits, or lower `max_tokens` to `details.affordable_max_tokens`",
  },
  key_spend_limit_reached: {
    happened: "the key's spend and open holds have reached its limit for the day, the week or the month",
    next: "raise the limit, use another key, or wait until `details.resets_at`",
  },
  scope_not_permitted: {
    happened: "the key's scope does not permit this",
    next: "use standard keys for standard models, research keys for research models, management keys for `/admin/v1`",
  },
  model_not_allowed: {
    happened: "the key may use only certain models, and this is not one of them",
    next: "allow the model in the key's settings, use a model that `/v1/models` lists, or use another key",
  },
  research_entitlement_required: {
    happened: "the organization has no active entitlement that names this model",
    next: "request one from the operator",
  },
  paid_workspace_required: {
    happened: "only organizations that have bought credits may use the model",
    next: "buy credits once",
  },
  organization_stopped: {
    happened:
      "the organization's credits do not match its records, so calls that cost anything are refused; running ones end as usual, and nothing is held",
    next: "ask the operator, who has been notified and can resume the organization; retrying does not help until then",
  },
  idempotency_in_progress: {
    happened: "the first request with this Idempotency-Key is still running, and the wait for it timed out",
    next: "send the same request again",
  },
  idempotency_outcome_unknown: {
    happened:
      "the gateway stopped while the first request was running; it is not known whether a provider ran it, and nothing was charged",
    next: "if running it twice is acceptable, send it with a new key",
  },
  idempotency_key_expired: {
    happened: "the first answer is no longer kept (24 h)",
    next: "send it with a new key",
  },
  idempotency_result_not_retained: {
    happened:
      "the first request was charged, but its answer is not kept: it was too large, or an operator ended the request",
    next: "`GET /v1/generation` has its receipt; send it with a new key if you need the text again",
  },
  idempotency_key_reused: {
    happened:
      "the key was used before with a different body, usually because it is set in an SDK's default headers",
    next: "use a new key for each request",
  },
  rate_limit_exceeded: {
    happened:
      "this key, its organization or the model is over its limit of requests or tokens per minute, or of concurrent requests (streams that still run after their client has disconnected count); or too much is being uploaded, is in progress as large answers, or is waiting to be counted; or too many reads of its pages are in progress",
    next: "wait as long as `retry-after` says; if `details.tokens` alone is above the limit, send fewer tokens",
  },
  internal_error: {
    happened: "something failed inside the gateway",
    next: "give the operator the request id; check `GET /v1/generation` before you retry",
  },
  provider_error: {
    happened:
      "the provider failed before it delivered anything, or refused this gateway's account or request",
    next: "`x-should-retry` says whether it is known that nothing ran",
  },
  provider_timeout: {
    happened: "the provider did not respond in time",
    next: "use `stream: true` for long answers",
  },
  route_disabled: { happened: "the operator switched off the model's routes", next: "use another model" },
  route_release_stale: {
    happened: "the route has no current signed release: it has expired or can no longer be used",
    next: "ask the operator to publish a new one",
  },
  route_unhealthy: {
    happened: "the route failed repeatedly, perhaps only for you, and is being tested",
    next: "wait as long as the answer says, or use another model",
  },
  route_unavailable: {
    happened: "this gateway cannot use any provider of the model right now",
    next: "wait as long as the answer says, or use another model",
  },
  overloaded: {
    happened:
      "the gateway is full, is stopping, cannot reach its store, or has no resources left for a connection to the provider; nothing is held",
    next: "send it again",
  },
};

/** Replaces sentences that mention fields of an answer or are long, for readers of a page who do not see the answer. */
const ON_A_PAGE: Partial<Record<RefusalCode, RefusalWords>> = {
  insufficient_credits: {
    happened: "the credits did not cover the maximum cost of a request",
    next: "add credits, or ask for a lower max_tokens",
  },
  key_spend_limit_reached: {
    happened: "spend and running holds reached the limit for the day, the week or the month",
    next: "raise the limit, use another key, or wait until it counts from zero again",
  },
  rate_limit_exceeded: {
    happened: "too many requests or tokens in a minute, or too many concurrent requests",
    next: "send fewer at a time, or have the limit raised",
  },
  context_length_exceeded: {
    happened: "prompt and max_tokens exceeded its context window",
    next: "shorten the prompt, lower max_tokens, or use a model with a wider window",
  },
  model_not_found: {
    happened: "the model does not exist for the key",
    next: "use a name from the Models page",
  },
};

/** The words as plain text for a page, which does not mark code; null for an unknown code. */
export function plainWordsOf(code: string | null): RefusalWords | null {
  if (code === null || !Object.hasOwn(REFUSAL_WORDS, code)) return null;
  const known = code as RefusalCode;
  const { happened, next } = ON_A_PAGE[known] ?? REFUSAL_WORDS[known];
  return { happened: happened.replaceAll("`", ""), next: next.replaceAll("`", "") };
}
