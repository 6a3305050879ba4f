// Turns a decoded body into a ChatRequest and what its answer needs, or refuses its first wrong field (surfaces.md §4).
import { type ChatRequest, countAttachments, emptyRequest } from "../../../domain/chat-request.ts";
import { clip, isPresent, type JsonObject } from "../../../domain/read-value.ts";
import { Refusal } from "../../../domain/refusals.ts";
import { objectBody, requireFields } from "../../../domain/request-body.ts";
import { joinedOffer, type OfferedTools, requireMoreThanSearch } from "./offered-tools.ts";
import { parseOfferedChoice } from "./parse-offered-choice.ts";
import { saysNothing } from "../chat-completions/refused-fields.ts";
import { REFUSED_HERE } from "./refused-here.ts";
import { emptyDraft, RESPONSE_FIELDS, type ResponseDraft } from "./response-fields.ts";

export interface ParsedResponseRequest {
  request: ChatRequest;
  offered: OfferedTools;
  /** As the caller sent it. */
  body: JsonObject;
}

const REQUIRED = ["model", "input"] as const;

/** Reads a decoded body. Throws a Refusal with `param` for the first invalid field, in body order. */
export function parseResponseRequest(decoded: unknown): ParsedResponseRequest {
  const body = objectBody(decoded);
  const draft = emptyDraft(emptyRequest());
  for (const name of Object.keys(body)) readField(draft, name, body[name]);
  requireFields(body, REQUIRED);
  const { offered: list, input } = draft;
  const lists = [list, ...input.offers];
  requireMoreThanSearch(lists);
  const offered = lists.length === 1 ? list : joinedOffer(lists);
  return { request: finish(draft, offered, body), offered, body };
}

function readField(draft: ResponseDraft, name: string, value: unknown): void {
  const read = RESPONSE_FIELDS.get(name);
  if (read !== undefined) {
    if (isPresent(value)) read(draft, value);
    return;
  }
  if (!isPresent(value)) return;
  const refused = REFUSED_HERE.get(name);
  if (refused === undefined) draft.untranslated.push(clip(name));
  else if (saysNothing(value, refused)) draft.dropped.push(name);
  else throw new Refusal(refused.code, `\`${name}\` ${refused.text}`, { param: name });
}

function finish(draft: ResponseDraft, offered: OfferedTools, body: JsonObject): ChatRequest {
  const { request, input, instructions } = draft;
  request.tools = offered.definitions;
  if (isPresent(body.tool_choice)) request.toolChoice = parseOfferedChoice(body.tool_choice, offered);
  request.messages =
    instructions === null || instructions === ""
      ? input.messages
      : [{ role: "system", content: instructions }, ...input.messages];
  Object.assign(request, countAttachments(request.messages));
  if (draft.logprobs) {
    request.applied.logprobs = true;
    if (draft.topLogprobs !== null) request.applied.top_logprobs = draft.topLogprobs;
  }
  request.native = {
    shape: "openai-responses",
    body: withoutDropped(draft, body),
    headers: {},
    only: null,
    dropped: draft.untranslated,
  };
  return request;
}

/** The body for an upstream of this shape: in its order, without what is not sent. */
function withoutDropped({ dropped, offered, input }: ResponseDraft, body: JsonObject): JsonObject {
  const asWritten = input.dropped.length === 0 && input.rewritten.size === 0;
  if (dropped.length === 0 && offered.dropped.length === 0 && asWritten) return body;
  const kept: JsonObject = {};
  for (const [name, value] of Object.entries(body)) {
    if (dropped.includes(name)) continue;
    if (name === "tools") kept.tools = without(offered.dropped, value);
    else if (name === "input" && !asWritten)
      kept.input = without(
        input.dropped,
        (value as unknown[]).map((item, place) => input.rewritten.get(place) ?? item),
      );
    else kept[name] = value;
  }
  return kept;
}

function without(places: readonly number[], list: unknown): unknown {
  if (places.length === 0) return list;
  const left = new Set(places);
  return (list as unknown[]).filter((_, place) => !left.has(place));
}
