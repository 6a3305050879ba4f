// Turns a decoded body into a ChatRequest, or refuses its first wrong field (specification 2.1, wire.md §1). Requests are built
// only here: known fields are read one by one, everything else is refused by name, and nothing is decided that depends on a release
// (see `releases/fit.ts`).
import { CHAT_FIELDS, type Draft } from "./chat-fields.ts";
import { type ChatRequest, countAttachments, emptyRequest } from "../../../domain/chat-request.ts";
import { isArrayOfIntegers, rawTokenIds } from "./parse-content.ts";
import { reduceThinking } from "./parse-thinking.ts";
import { parseToolChoice } from "./parse-tools.ts";
import { invalid, isPresent, type JsonObject } from "../../../domain/read-value.ts";
import { REFUSED_FIELDS, saysNothing } from "./refused-fields.ts";
import { Refusal } from "../../../domain/refusals.ts";
import { objectBody, requireFields, unknownField } from "../../../domain/request-body.ts";

export interface ParsedChat {
  request: ChatRequest;
  /** A stream ends with a usage chunk. */
  includeUsage: boolean;
}

/** Reads a decoded body. Throws a Refusal with `param` for the first invalid field, in body order. */
export function parseChatRequest(decoded: unknown): ParsedChat {
  const body = objectBody(decoded);
  const draft: Draft = { request: emptyRequest(), thinking: [], includeUsage: false };
  for (const name of Object.keys(body)) readField(draft, name, body[name]);
  requireWholeness(draft.request, body);
  return { request: finish(draft, body), includeUsage: draft.includeUsage };
}

function readField(draft: Draft, name: string, value: unknown): void {
  const read = CHAT_FIELDS.get(name);
  if (read === undefined) return refuseField(name, value);
  if (isPresent(value)) read(draft, value);
}

function refuseField(name: string, value: unknown): void {
  const refused = REFUSED_FIELDS.get(name);
  if (refused === undefined) throw unknownField(name);
  if (saysNothing(value, refused)) return;
  if (name === "prompt" && isArrayOfIntegers(value)) throw rawTokenIds(null, name);
  throw new Refusal(refused.code, `\`${name}\` ${refused.text}`, { param: name });
}

const REQUIRED = ["model", "messages"] as const;

/** Checks required fields, and fields that only make sense together. */
function requireWholeness(request: ChatRequest, body: JsonObject): void {
  requireFields(body, REQUIRED);
  if (isPresent(body.stream_options) && !request.stream)
    throw invalid(null, "stream_options", 'is only allowed with "stream": true. Remove it, or set stream.');
  const { logprobs, top_logprobs: top } = request.applied;
  if (top !== undefined && top > 0 && logprobs !== true)
    throw invalid(null, "top_logprobs", 'is only allowed with "logprobs": true. Remove it, or set logprobs.');
}

function finish({ request, thinking }: Draft, body: JsonObject): ChatRequest {
  if (isPresent(body.tool_choice)) request.toolChoice = parseToolChoice(body.tool_choice, request.tools);
  if (request.applied.logprobs !== true) delete request.applied.top_logprobs;
  request.reasoning = reduceThinking(thinking);
  Object.assign(request, countAttachments(request.messages));
  return request;
}
