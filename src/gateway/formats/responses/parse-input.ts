// `input` of a Responses request as a conversation (surfaces.md §4): calls join the turn that made them, tool results follow
// directly, and reasoning is restored only if this gateway sealed it.
import type { ContentPart, Message, ToolCall } from "../../../domain/chat-request.ts";
import {
  echo,
  found,
  invalid,
  isJsonObject,
  isPresent,
  type JsonObject,
  type Place,
  readBoundedString,
  readChoice,
  readObject,
  readString,
  refuse,
} from "../../../domain/read-value.ts";
import {
  argumentsOfInput,
  heardName,
  parseOfferedTools,
  readToolName,
  type ToolList,
} from "./offered-tools.ts";
import { parseItemContent } from "./parse-item-content.ts";
import { unsealState } from "./sealed-state.ts";

const INPUT: Place = { parent: null, step: "input" };
const ROLES = ["user", "system", "developer", "assistant"] as const;
const ID_LENGTH_MAX = 512;
const NEXT =
  "Nothing is stored here: send the whole conversation as items (clients do so with `store: false`).";

export interface ParsedInput {
  messages: Message[];
  /**
   * Indexes of items that are not sent: results of a provider's own tools in an earlier turn, reasoning that is only named, and
   * the effort of single turns.
   */
  dropped: readonly number[];
  /** Types of those items. */
  ignored: ReadonlySet<string>;
  /** Tools that items add. */
  offers: readonly ToolList[];
  /** By index: items that are sent without some of their tools. */
  rewritten: ReadonlyMap<number, JsonObject>;
  /** Types of items that are sent only to upstreams of this shape. */
  untranslated: ReadonlySet<string>;
}

export const NO_INPUT: ParsedInput = {
  messages: [],
  dropped: [],
  ignored: new Set(),
  offers: [],
  rewritten: new Map(),
  untranslated: new Set(),
};

/** Reads `input`. Throws a Refusal for the first invalid item. */
export function parseInput(value: unknown): ParsedInput {
  if (typeof value === "string") return { ...NO_INPUT, messages: [{ role: "user", content: value }] };
  if (!Array.isArray(value))
    throw invalid(null, "input", `must be a string or an array of items, ${found(value)}.`);
  const conversation = new Conversation();
  for (const [index, item] of value.entries())
    conversation.read(readObject(item, INPUT, index), { parent: INPUT, step: index });
  const messages = conversation.whole();
  if (messages.length === 0) throw invalid(null, "input", "must contain at least one message.");
  const { dropped, ignored, offers, rewritten, untranslated } = conversation;
  return { messages, dropped, ignored, offers, rewritten, untranslated };
}

type At = NonNullable<Place>;

/** A message, the results of its calls, and the images and files in them. */
interface Turn {
  message: Message;
  at: At;
  results: Message[];
  shown: ContentPart[];
}

class Conversation {
  readonly dropped: number[] = [];
  readonly ignored = new Set<string>();
  readonly offers: ToolList[] = [];
  readonly rewritten = new Map<number, JsonObject>();
  readonly untranslated = new Set<string>();
  private readonly turns: Turn[] = [];
  /** The turn of each call: if an id is used again, the latest counts. */
  private readonly callers = new Map<string, Turn>();
  private readonly unanswered = new Map<string, At>();
  /** Calls that run beside the conversation, without a result so far. */
  private readonly running = new Map<string, Turn>();
  /** State of calls to come. */
  private readonly states = new Map<string, Record<string, unknown>>();
  private reasoning = "";

  read(item: JsonObject, at: At): void {
    const type = typeOf(item, at);
    switch (type) {
      case "message":
        return this.message(item, at);
      case "function_call":
        return this.call(item, readString(item.arguments, at, "arguments"), at);
      case "custom_tool_call":
        return this.call(item, argumentsOfInput(readString(item.input, at, "input")), at);
      case "function_call_output":
      case "custom_tool_call_output":
        return this.output(item, at);
      case "reasoning":
        if (!isPresent(item.encrypted_content)) this.dropped.push(Number(at.step)); // nobody kept it
        return this.thought(item);
      case "tool_search_output":
        this.untranslated.add(type);
        return this.offer(item, at);
      case "additional_tools":
        return this.offer(item, at);
      case "tool_search_call":
        return void this.untranslated.add(type);
      case "web_search_call":
      case "item_reference":
      case "configuration_update":
        this.dropped.push(Number(at.step));
        this.ignored.add(type);
    }
  }

  /** Each call with its results, then images and files, which only users may send. Throws for a call without a result. */
  whole(): Message[] {
    for (const [id, at] of this.unanswered)
      throw invalid(at, "call_id", `calls ${echo(id)}, but no item after it has its output. Add one.`);
    for (const [id, { results }] of this.running)
      results.push({ role: "tool", tool_call_id: id, content: RUNNING });
    return this.turns.flatMap(({ message, results, shown }) => [
      message,
      ...results,
      ...(shown.length === 0 ? [] : [{ role: "user", content: shown } as const]),
    ]);
  }

  private message(item: JsonObject, at: At): void {
    const role = readChoice(item.role, ROLES, at, "role");
    const content = parseItemContent(item.content, role, { at, step: "content" });
    if (role !== "assistant") this.reasoning = "";
    else if (content === "") return; // an answer that only called tools
    this.begin({ role, content }, at);
  }

  private begin(message: Message, at: At): Turn {
    if (message.role === "assistant") this.think(message);
    const turn: Turn = { message, at, results: [], shown: [] };
    this.turns.push(turn);
    return turn;
  }

  private call(item: JsonObject, text: string, at: At): void {
    const id = readCallId(item, at);
    const namespace = isPresent(item.namespace) ? readString(item.namespace, at, "namespace") : null;
    const name = heardName({ name: readToolName(item.name, at), namespace });
    const state = this.states.get(id);
    const call: ToolCall = { id, type: "function", function: { name, arguments: text } };
    if (state !== undefined) call.extra_content = state;
    const last = this.turns.at(-1);
    const open = last?.message.role === "assistant" && last.results.length === 0 ? last : null;
    const turn = open ?? this.begin({ role: "assistant", content: null }, at);
    this.think(turn.message);
    (turn.message.tool_calls ??= []).push(call);
    this.callers.set(id, turn);
    if (item.async === true) this.running.set(id, turn);
    else this.unanswered.set(id, at);
  }

  private output(item: JsonObject, at: At): void {
    const id = readCallId(item, at);
    const turn = this.callers.get(id);
    if (turn === undefined)
      throw invalid(
        at,
        "call_id",
        `names ${echo(id)}, but no item before it is a call with that id. Send the call as well.`,
      );
    const said = parseItemContent(item.output, "tool", { at, step: "output" });
    const parts: ContentPart[] = typeof said === "string" ? [] : said;
    const texts = parts.filter(({ type }) => type === "text");
    const shown = parts.filter(({ type }) => type !== "text");
    const words = texts.length === 0 && shown.length > 0 ? SHOWN : texts;
    turn.results.push({
      role: "tool",
      tool_call_id: id,
      content: typeof said === "string" ? said : words,
    });
    for (const part of shown) turn.shown.push(part);
    this.unanswered.delete(id);
    this.running.delete(id);
  }

  /** Tools that come with the conversation are offered like all others; searches among them are not sent. */
  private offer(item: JsonObject, at: At): void {
    const list = parseOfferedTools(item.tools, at);
    this.offers.push(list);
    if (list.searched) this.untranslated.add("tools.tool_search");
    if (list.dropped.length === 0) return;
    this.ignored.add("tools.web_search");
    const left = (item.tools as unknown[]).filter((_, place) => !list.dropped.includes(place));
    if (left.length === 0) this.dropped.push(Number(at.step));
    else this.rewritten.set(Number(at.step), { ...item, tools: left });
  }

  /** Reasoning that was not sealed here is another provider's: it is left out. */
  private thought(item: JsonObject): void {
    const state = unsealState(item.encrypted_content);
    if (state === null) return;
    if (state.call !== null) this.states.set(state.call, state.extra);
    const summary = Array.isArray(item.summary) ? (item.summary as unknown[]) : [];
    for (const part of summary)
      if (isJsonObject(part) && typeof part.text === "string") this.reasoning += part.text;
  }

  /** Reasoning since the last turn belongs to this one. */
  private think(message: Message): void {
    if (this.reasoning === "") return;
    message.reasoning_content = this.reasoning;
    this.reasoning = "";
  }
}

/** The result shown for a call that is still running: models of other shapes have no other way to learn that. */
const RUNNING = "(no result yet)";
/** The result of a tool that returned only images or files. */
const SHOWN: ContentPart[] = [{ type: "text", text: "(shown below)" }];

const KINDS = [
  "message",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
  "reasoning",
  "additional_tools",
  "tool_search_call",
  "tool_search_output",
  "web_search_call",
  "item_reference",
  "configuration_update",
] as const;

/** Items that ask for a summary in place of an answer, or are one that only their vendor can read. */
const COMPACTION: ReadonlySet<string> = new Set(["compaction_trigger", "compaction", "compaction_summary"]);

/** The prefix of reasoning ids. The AI SDK names one for which it has no seal; the conversation continues without it. */
const THOUGHT = /^rs_/;

function typeOf(item: JsonObject, at: At): (typeof KINDS)[number] {
  if (!isPresent(item.type)) return isPresent(item.role) ? "message" : throwReference(at, "id");
  const type = readString(item.type, at, "type");
  const kind = KINDS.find((candidate) => candidate === type);
  if (kind === "item_reference" && !(typeof item.id === "string" && THOUGHT.test(item.id)))
    return throwReference(at, "type");
  if (kind !== undefined) return kind;
  if (COMPACTION.has(type))
    throw refuse(
      "unsupported_value",
      at,
      "type",
      `${echo(type)} is not supported: ask for a summary in \`input\`, and send its text.`,
    );
  throw refuse(
    "unsupported_value",
    at,
    "type",
    `${echo(type)} is not supported: it belongs to a tool that is not supported.`,
  );
}

function throwReference(at: At, step: string): never {
  throw refuse("unsupported_value", at, step, `refers to an item that is not in this request. ${NEXT}`);
}

function readCallId(item: JsonObject, at: At): string {
  const id = readBoundedString(item.call_id, at, "call_id", ID_LENGTH_MAX);
  if (id === "") throw invalid(at, "call_id", "must not be empty.");
  return id;
}
