// Turns a decoded Messages body into a neutral request and the same body for upstreams of its shape, or refuses its first wrong
// field (surfaces.md §4). Unknown fields go to such upstreams, and nowhere else.
import {
  type ChatRequest,
  countAttachments,
  emptyRequest,
  type ResponseFormat,
} from "../../../domain/chat-request.ts";
import {
  clip,
  invalid,
  isPresent,
  type JsonObject,
  type Place,
  readArray,
  readBoolean,
  readBoundedString,
  readChoice,
  readInteger,
  readNumber,
  readObject,
  refuse,
  requireRange,
} from "../../../domain/read-value.ts";
import { Refusal } from "../../../domain/refusals.ts";
import { objectBody, requireFields } from "../../../domain/request-body.ts";
import { saysNothing } from "../chat-completions/refused-fields.ts";
import { parseModel } from "../chat-completions/parse-plain-fields.ts";
import type { HeaderOf } from "../format.ts";
import { unreadMembers } from "../unread-members.ts";
import { BETA_HEADER } from "../../../providers/anthropic/betas.ts";
import { betaNames, requireVersionDate } from "./beta-names.ts";
import { readOutput, readSchema, readThinking, type SaidOfThinking, thinkingSaid } from "./parse-effort.ts";
import { readToolChoice, readToolset, type Toolset } from "./parse-toolset.ts";
import { readSystem, readTurns, withoutOwnSettings } from "./parse-turns.ts";
import { REFUSED_OF_MESSAGES } from "./refused-fields.ts";

const STOPS_MAX = 1024;
const STOPS_ELSEWHERE_MAX = 4;
const STOP_LENGTH_MAX = 1024;
const USER_LENGTH_MAX = 512;

/** A request being read: fields arrive in the order of the body. */
interface Draft {
  request: ChatRequest;
  system: ChatRequest["messages"];
  thinking: SaidOfThinking;
  effort: string | null;
  toolset: Toolset | null;
  only: Refusal | null;
  /** Paths that are not sent to upstreams of another shape. */
  dropped: string[];
  /** Fields that are sent to no upstream. */
  unsent: Set<string>;
}

type FieldReader = (draft: Draft, value: unknown) => void;

/** Fields that only upstreams of this shape support. */
const theirs =
  (name: string): FieldReader =>
  ({ dropped }) => {
    dropped.push(name);
  };

const FIELDS: ReadonlyMap<string, FieldReader> = new Map<string, FieldReader>([
  [
    "model",
    ({ request }, value) => {
      request.model = parseModel(value);
    },
  ],
  [
    "max_tokens",
    ({ request }, value) => {
      request.maxTokens = readInteger(value, null, "max_tokens");
      if (request.maxTokens === 0) throw nothingPutOut();
      requireRange(request.maxTokens, { min: 1, max: Number.MAX_SAFE_INTEGER }, "integer", "max_tokens");
    },
  ],
  [
    "messages",
    ({ request }, value) => {
      request.messages = readTurns(value);
    },
  ],
  [
    "system",
    (draft, value) => {
      draft.system = readSystem(value);
    },
  ],
  [
    "tools",
    (draft, value) => {
      draft.toolset = readToolset(value);
      draft.request.tools = draft.toolset.tools;
      draft.request.ignored.push(...draft.toolset.dropped);
      draft.only ??= draft.toolset.only;
    },
  ],
  ["tool_choice", () => undefined], // needs the tools, which may follow it
  [
    "thinking",
    (draft, value) => {
      const { said, dropped } = readThinking(value);
      draft.thinking = said;
      draft.dropped.push(...dropped);
    },
  ],
  [
    "output_config",
    (draft, value) => {
      const { effort, format, dropped } = readOutput(value);
      draft.effort = effort;
      setFormat(draft, format);
      draft.dropped.push(...dropped);
    },
  ],
  ["output_format", (draft, value) => setFormat(draft, readSchema(value, null, "output_format"))],
  [
    "temperature",
    ({ request }, value) => {
      request.temperature = readNumber(value, null, "temperature");
      requireRange(request.temperature, { min: 0, max: 1 }, "decimal", "temperature");
    },
  ],
  [
    "top_p",
    ({ request }, value) => {
      const top = readNumber(value, null, "top_p");
      requireRange(top, { min: 0, max: 1 }, "decimal", "top_p");
      if (top !== 1) request.forwarded.top_p = top;
    },
  ],
  [
    "top_k",
    (draft, value) => {
      requireRange(readInteger(value, null, "top_k"), { min: 0, max: 1_000_000 }, "integer", "top_k");
      draft.dropped.push("top_k");
    },
  ],
  ["stop_sequences", readStops],
  [
    "stream",
    ({ request }, value) => {
      request.stream = readBoolean(value, null, "stream");
    },
  ],
  ["metadata", readMetadata],
  ["context_management", readContextManagement],
  ["cache_control", theirs("cache_control")],
  ["diagnostics", readDiagnostics],
  ["safeguards", readSafeguards],
  [
    "service_tier",
    ({ request }, value) => {
      const tier = readChoice(value, ["auto", "standard_only"], null, "service_tier");
      if (tier !== "auto") request.ignored.push("service_tier");
    },
  ],
]);

/** `output_format` is the older name of `output_config.format`. */
function setFormat({ request }: Draft, format: ResponseFormat | null): void {
  if (format !== null && request.responseFormat !== null)
    throw invalid(null, "output_format", "repeats `output_config.format`. Send only one of them.");
  request.responseFormat ??= format;
}

function readStops(draft: Draft, value: unknown): void {
  const items = readArray(value, null, "stop_sequences");
  if (items.length > STOPS_MAX) throw tooManyStops(STOPS_MAX, "");
  const at: Place = { parent: null, step: "stop_sequences" };
  draft.request.stop = items.map((item, index) => {
    const stop = readBoundedString(item, at, index, STOP_LENGTH_MAX);
    if (stop === "") throw invalid(at, index, "must not be empty. Remove it.");
    return stop;
  });
  if (items.length > STOPS_ELSEWHERE_MAX)
    draft.only ??= tooManyStops(STOPS_ELSEWHERE_MAX, " with this model");
}

/** The vendor may clear parts of the context. To summarize it, the vendor runs rounds of its own, which no usage reports. */
function readContextManagement(draft: Draft, value: unknown): void {
  const { edits } = readObject(value, null, "context_management");
  const at: Place = { parent: { parent: null, step: "context_management" }, step: "edits" };
  if (isPresent(edits))
    for (const [index, edit] of readArray(edits, at.parent, "edits").entries())
      if (String(readObject(edit, at, index).type).startsWith("compact"))
        throw refuse(
          "unsupported_value",
          { parent: at, step: index },
          "type",
          "has costs of its own that no published rate covers. Remove it.",
        );
  draft.dropped.push("context_management");
}

/** A comparison with an earlier answer by the vendor's id of it, which is not known here: it changes no answer, and is not sent. */
function readDiagnostics({ request, unsent }: Draft, value: unknown): void {
  readObject(value, null, "diagnostics");
  unsent.add("diagnostics");
  request.ignored.push("diagnostics");
}

/**
 * Additional checks by the vendor, for which no rate is published. If an answer has no result of them, agents make the
 * checks themselves. What agents report about their machine is not sent.
 */
function readSafeguards({ request, unsent }: Draft, value: unknown): void {
  readArray(value, null, "safeguards");
  unsent.add("safeguards");
  request.ignored.push("safeguards");
}

/**
 * The vendor fills its cache with such a call. The field is required here, so the usual range message, which suggests leaving it
 * out, does not apply.
 */
const nothingPutOut = (): Refusal =>
  refuse(
    "integer_below_min_value",
    null,
    "max_tokens",
    "must be at least 1: a call that only fills a cache is not supported.",
  );

const tooManyStops = (most: number, where: string): Refusal =>
  refuse("array_above_max_length", null, "stop_sequences", `may have at most ${most} strings${where}.`);

function readMetadata({ request, dropped }: Draft, value: unknown): void {
  const metadata = readObject(value, null, "metadata");
  const { user_id: user } = metadata;
  dropped.push(...unreadMembers("metadata", metadata, ["user_id"]));
  const at: Place = { parent: null, step: "metadata" };
  if (isPresent(user)) request.identifiers.user = readBoundedString(user, at, "user_id", USER_LENGTH_MAX);
}

const REQUIRED = ["model", "max_tokens", "messages"] as const;

/** Throws a `Refusal` with `param` for the first invalid field, in body order. */
export function parseMessageRequest(decoded: unknown, header: HeaderOf): ChatRequest {
  const body = objectBody(decoded);
  requireVersionDate(header);
  const betas = betaNames(header);
  const draft: Draft = {
    request: emptyRequest(),
    system: [],
    thinking: null,
    effort: null,
    toolset: null,
    only: null,
    dropped: betas.length > 0 ? [BETA_HEADER] : [],
    unsent: new Set(["service_tier"]),
  };
  for (const name of Object.keys(body)) readField(draft, name, body[name]);
  requireFields(body, REQUIRED);
  return finish(draft, body, betas);
}

function readField(draft: Draft, name: string, value: unknown): void {
  const refused = REFUSED_OF_MESSAGES.get(name);
  if (refused !== undefined) {
    draft.unsent.add(name);
    if (saysNothing(value, refused)) return;
    const { code, text, details } = refused;
    throw new Refusal(code, `\`${name}\` ${text}`, { param: name, ...(details && { details }) });
  }
  if (!isPresent(value)) return;
  const read = FIELDS.get(name);
  if (read !== undefined) read(draft, value);
  else draft.dropped.push(clip(name));
}

function finish(draft: Draft, body: JsonObject, betas: string[]): ChatRequest {
  const { request, system, thinking, effort, toolset, only, dropped, unsent } = draft;
  if (isPresent(body.tool_choice)) {
    const { choice, single } = readToolChoice(body.tool_choice, request.tools);
    request.toolChoice = choice;
    if (single) request.forwarded.parallel_tool_calls = false;
  }
  request.messages = [...system, ...request.messages];
  request.reasoning = thinkingSaid(thinking, effort);
  if (thinking === "disabled" && effort !== null) dropped.push("output_config.effort");
  Object.assign(request, countAttachments(request.messages));
  const messages = withoutOwnSettings(body.messages);
  const own = messages !== body.messages;
  if (own) request.ignored.push("messages.output_config");
  request.native = {
    shape: "anthropic-messages",
    body: sentBody(withFormat(own ? { ...body, messages } : body), toolset, unsent),
    headers: betas.length === 0 ? {} : { [BETA_HEADER]: betas.join(",") },
    only,
    dropped,
  };
  return request;
}

/** The vendor expects the form of the answer in its newer place. */
function withFormat(body: JsonObject): JsonObject {
  const { output_format: format, ...rest } = body;
  if (!isPresent(format)) return body;
  return { ...rest, output_config: { ...(rest["output_config"] as JsonObject | null), format } };
}

/**
 * The body without fields that are sent to no upstream, and without tools that are left out.
 */
function sentBody(body: JsonObject, toolset: Toolset | null, unsent: ReadonlySet<string>): JsonObject {
  const names = Object.keys(body);
  const sent = names.some((name) => unsent.has(name))
    ? Object.fromEntries(names.filter((name) => !unsent.has(name)).map((name) => [name, body[name]]))
    : body;
  return toolset === null || toolset.dropped.length === 0 ? sent : { ...sent, tools: toolset.written };
}
