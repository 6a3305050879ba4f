// What each refusal means and what to do about it, for people: the sentences of `docs/errors.md`, compared there.
import type { RefusalCode } from "./refusals.ts";

/** Two sentences for people: what happened, and what they do next. */
export interface RefusalWords {
  happened: string;
  next: string;
}

export const REFUSAL_WORDS: Record<RefusalCode, RefusalWords> = {
  invalid_api_key: {
    happened: "no key, a malformed one, or one that does not exist",
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
    happened: "the key's time is over; that is permanent",
    next: "create a new key, or replace it before its time is over",
  },
  unknown_url: {
    happened: "there is no such path",
    next: "the message names what there is; the base URL ends in `/v1`",
  },
  method_not_allowed: { happened: "the path exists, the method does not", next: "see the `allow` header" },
  unsupported_media_type: {
    happened: "not `application/json` in UTF-8, or compressed",
    next: "send `Content-Type: application/json`, uncompressed",
  },
  payload_too_large: {
    happened: "the body is above the gateway's limit",
    next: "send less; put images where they can be fetched",
  },
  invalid_json: {
    happened: "not one JSON document in UTF-8, a key twice, nested too deep, or a number out of range",
    next: "send what a JSON library prints",
  },
  too_many_values: {
    happened: "the body has more than 250,000 fields, or 500,000 values (a list or an object counts as two)",
    next: "send fewer, larger ones: one message in place of a thousand, text in place of lists of numbers",
  },
  invalid_request: {
    happened:
      "a field is missing, has the wrong type or contradicts another one, or the provider does not take its value, or the body came in too many tiny chunks",
    next: "`param` names it",
  },
  integer_above_max_value: {
    happened: "a whole number is too large",
    next: "`param` names it, the message the bound",
  },
  integer_below_min_value: {
    happened: "a whole number is too small",
    next: "`param` names it, the message the bound",
  },
  decimal_above_max_value: {
    happened: "a number is too large; it is never clamped",
    next: "`param` names it, the message the bound",
  },
  decimal_below_min_value: {
    happened: "a number is too small",
    next: "`param` names it, the message the bound",
  },
  string_above_max_length: {
    happened: "a text is too long",
    next: "`param` names it, the message the bound",
  },
  array_above_max_length: { happened: "a list is too long", next: "`param` names it, the message the bound" },
  unknown_parameter: {
    happened: "the API has no such field",
    next: "leave it out; nothing of provider, price or route can be overridden",
  },
  unsupported_parameter: {
    happened:
      "the field exists, but not here or not for this model, or the model's provider does not know it",
    next: "leave it out; `param` names it",
  },
  unsupported_value: { happened: "this value is not open for this model", next: "the message lists what is" },
  raw_token_ids_not_allowed: { happened: "token ids where text belongs", next: "send text" },
  runtime_adapter_not_allowed: {
    happened: "adapters, templates or other switches of a serving engine",
    next: "leave them out",
  },
  contradictory_thinking: {
    happened: "two statements about reasoning that cannot both be true",
    next: "say it once, best with `reasoning_effort`",
  },
  invalid_idempotency_key: {
    happened: "not 8–200 printable ASCII characters without blanks, or sent twice",
    next: "send a UUID, once",
  },
  context_length_exceeded: {
    happened: "prompt and `max_tokens` do not fit the model's window",
    next: "shorten the prompt or lower `max_tokens`; `details` has the figures",
  },
  content_filter: { happened: "the provider refused the prompt on policy", next: "change the prompt" },
  model_not_found: { happened: "no such model for this key", next: "list them with `GET /v1/models`" },
  generation_not_found: {
    happened: "no such request of this key",
    next: "use the id from the answer of the same key",
  },
  response_not_found: {
    happened: "responses are not stored, so none is found by its id",
    next: "send the whole conversation as `input`; `GET /v1/generation?id=` tells what became of a request",
  },
  receipt_not_ready: {
    happened: "the request still runs, so there is no receipt of it yet",
    next: "ask again when it has ended",
  },
  insufficient_credits: {
    happened: "the credits do not cover the most that the call can cost; nothing was sent to a provider",
    next: "add credits, or lower `max_tokens` to `details.affordable_max_tokens`",
  },
  key_spend_limit_reached: {
    happened: "the key's spend and open holds of the day, the week or the month have reached its limit",
    next: "raise the limit, use another key, or wait until `details.resets_at`",
  },
  scope_not_permitted: {
    happened: "the key's scope does not permit this",
    next: "standard keys call standard models, research keys research models, management keys `/admin/v1`",
  },
  model_not_allowed: {
    happened: "the key may use certain models, and this one is not among them",
    next: "allow the model in the key's settings, use one that `/v1/models` lists, or another key",
  },
  research_entitlement_required: {
    happened: "no active entitlement of the organization names this model",
    next: "request one from the operator",
  },
  paid_workspace_required: {
    happened: "the model is for organizations that have bought credits",
    next: "buy credits once",
  },
  organization_stopped: {
    happened:
      "the organization's credits do not add up with its records, so calls that cost something are refused; running ones end as usual, and nothing is held",
    next: "ask the operator, who has been told and lets it go on; sending it again does not help until then",
  },
  idempotency_in_progress: {
    happened: "the first request with this Idempotency-Key still runs, and waiting took too long",
    next: "send the same request again",
  },
  idempotency_outcome_unknown: {
    happened:
      "the gateway stopped while the first request ran; nobody knows whether a provider ran it, and nothing was charged",
    next: "decide yourself, and send it with a new key",
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
    happened: "another body under a key that is taken, usually a key set in an SDK's default headers",
    next: "one fresh key for each request",
  },
  rate_limit_exceeded: {
    happened:
      "more requests or tokens per minute than this key, its organization or the model may have; too many of them at once, streams that were left and still run included; or too much is being uploaded, is on its way as large answers, or waits to be counted",
    next: "wait as told; where `details.tokens` alone is above the limit, send fewer",
  },
  internal_error: {
    happened: "something failed inside the gateway",
    next: "ask the operator with the request id; before sending it again see `GET /v1/generation`",
  },
  provider_error: {
    happened:
      "the provider failed before it delivered anything, or refused this gateway's account or request",
    next: "the header says whether it is known that nothing ran",
  },
  provider_timeout: {
    happened: "the provider was silent for too long",
    next: "use `stream: true` for long answers",
  },
  route_disabled: { happened: "the operator switched the model's routes off", next: "use another model" },
  route_release_stale: {
    happened: "the route has no current signed release: it has expired, or cannot be used any more",
    next: "the operator has to publish a fresh one",
  },
  route_unhealthy: {
    happened: "the route failed repeatedly, for you alone perhaps, and is being tested",
    next: "wait as told, or use another model",
  },
  route_unavailable: {
    happened: "no provider of the model can be used on this gateway now",
    next: "wait as told, or use another model",
  },
  overloaded: {
    happened:
      "the gateway is full, stopping, cannot reach its store, or has nothing left for a connection to the provider; nothing is held",
    next: "send it again",
  },
};

/** Where the document speaks of an answer's fields, or at length: for whoever has a page before them and not the answer. */
const ON_A_PAGE: Partial<Record<RefusalCode, RefusalWords>> = {
  insufficient_credits: {
    happened: "the credits did not cover the most that a request could cost",
    next: "add credits, or ask for a lower max_tokens",
  },
  key_spend_limit_reached: {
    happened: "spend and running holds of the day, the week or the month reached its limit",
    next: "raise the limit, use another key, or wait until it counts from zero again",
  },
  rate_limit_exceeded: {
    happened: "too many requests or tokens in a minute, or too many requests at once",
    next: "send fewer at a time, or have the limit raised",
  },
  context_length_exceeded: {
    happened: "prompt and max_tokens did not fit its window",
    next: "shorten the prompt, lower max_tokens, or use a model with a wider window",
  },
  model_not_found: {
    happened: "there is no such model for the key",
    next: "use a name from the Models page",
  },
};

/** As plain text for a page, where code is not marked; null for a code of another time. */
export function plainWordsOf(code: string | null): RefusalWords | null {
  if (code === null || !Object.hasOwn(REFUSAL_WORDS, code)) return null;
  const known = code as RefusalCode;
  const { happened, next } = ON_A_PAGE[known] ?? REFUSAL_WORDS[known];
  return { happened: happened.replaceAll("`", ""), next: next.replaceAll("`", "") };
}
