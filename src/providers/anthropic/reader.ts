// Reads one answer of the vendor into parts: a stream of named events whose blocks begin, grow and end, or a whole body
// with the same blocks. Unknown events, blocks and deltas are skipped, because the vendor adds new kinds without a new
// API version (wire.md §8.2).
import { exactObject } from "../../domain/exact-json.ts";
import { isJsonObject, isPresent } from "../../domain/read-value.ts";
import type { JsonObject } from "../../domain/read-value.ts";
import { NO_ARGUMENTS } from "../../domain/tool-arguments.ts";
import { answerIdOf } from "../answer-id.ts";
import type { AnswerReader, EventEnd } from "../codec.ts";
import { namelessCall, unreadableArguments } from "../call-arguments.ts";
import { requireFewCalls } from "../calls-max.ts";
import { Failure } from "../failure.ts";
import { readObject } from "../http/json.ts";
import { Annotations, ANNOTATION_CHARACTERS_MAX, ANNOTATIONS_MAX } from "../openai/annotations.ts";
import { KeptBound } from "../kept-bound.ts";
import type { FinishReason, Part } from "../provider.ts";
import { GivenIds } from "../given-ids.ts";
import { claudeError } from "./read-error.ts";
import { claudeFinish } from "./finish-reason.ts";
import { ClaudeUsage } from "./usage.ts";
import { blockOf, keptContent, type ThinkingBlock } from "./kept-thinking.ts";
import type { Placed } from "../thoughts-in-text.ts";

/** Bounds the thoughts that precede one call; larger ones are not kept, and the next turn is sent without them. */
const KEPT_CHARACTERS_MAX = 1024 * 1024;
/** Bounds the thoughts that precede all calls together. */
const GIVEN_CHARACTERS_MAX = 8 * KEPT_CHARACTERS_MAX;
/** Bounds the arguments in the start events of calls that are still open. */
const INPUT_CHARACTERS_MAX = 8 * 1024 * 1024;
/** Bounds the cited pages, before duplicates are removed. */
const CITED_CHARACTERS_MAX = 4 * ANNOTATION_CHARACTERS_MAX;

/** No real answer has this many open blocks; all known ones have one at a time. */
const OPEN_MAX = 256;

/** A block that has begun but not ended. */
interface Open {
  /** The kind of thought; "" for all other blocks. */
  type: "thinking" | "redacted_thinking" | "";
  /** The length of the text before it, and the pages that its own text cites. */
  from: number;
  cited: Record<string, unknown>[];
  /** For a thought: text, signature and sealed data so far. */
  thought: { thinking: string; signature: string; data: unknown };
  /**
   * For a call: its id as reported, our index, the arguments in its start event, and whether any others came; null for
   * other blocks.
   */
  call: { id: unknown; index: number; input: unknown; characters: number; spoke: boolean } | null;
}

/** Numbers in tool arguments are passed on as the model wrote them. */
const EXACT = ["input"];

/**
 * The reader of one answer, streamed or whole. Throws `Failure` for content that cannot be passed on to any client, and
 * for anything that grows without bound.
 */
export class ClaudeReader implements AnswerReader<string> {
  /** The upstream's own id of the answer; null until it has sent one. */
  id: string | null = null;
  usageTold = false;
  lastEvent: JsonObject = {};
  began = false;
  private started = false;
  /** Reads a whole answer. */
  private read: { text: string; body: JsonObject } = { text: "", body: {} };
  private finish: FinishReason | null = null;
  private explanation = "";
  private readonly usage = new ClaudeUsage();
  private readonly open = new Map<number, Open>();
  private readonly annotations = new Annotations();
  /** Thoughts waiting for the call that follows them. */
  private kept: Placed<ThinkingBlock>[] = [];
  private readonly bound = new KeptBound(KEPT_CHARACTERS_MAX, GIVEN_CHARACTERS_MAX);
  private inputCharacters = 0;
  private citedCharacters = 0;
  private textCharacters = 0;
  private readonly ids = new GivenIds();
  private calls = 0;

  get complete(): boolean {
    return this.finish !== null;
  }

  event(data: string, parts: Part[]): EventEnd {
    if (data === "") return null;
    if (data.startsWith("[DONE]")) return "done"; // proxies in front of it end a stream this way
    const event = readObject(data, "the upstream sent an event", EXACT);
    this.lastEvent = event;
    switch (event["type"]) {
      case "content_block_delta":
        this.began = true;
        this.grow(event, parts);
        return null;
      case "content_block_start":
        if (isJsonObject(event["content_block"])) this.begin(placeOf(event), event["content_block"], parts);
        return null;
      case "content_block_stop":
        this.end(placeOf(event), parts);
        return null;
      case "message_start":
        if (isJsonObject(event["message"])) this.start(event["message"], parts);
        return null;
      case "message_delta":
        this.began = true; // its start event reports tokens too, but proves none
        if (isJsonObject(event["delta"])) this.ending(event["delta"]);
        this.tell(event["usage"], parts);
        return null;
      case "message_stop":
        return "done";
      case "error":
        return claudeError(event);
      default:
        if (isJsonObject(event["error"])) return claudeError(event);
        return null;
    }
  }

  whole(text: string, parts: Part[]): void {
    const body = readObject(text, "the upstream answered 200 with something", EXACT);
    if (body["type"] === "error" || isJsonObject(body["error"]))
      throw new Failure("broken", "unknown", "the upstream answered 200 with an error body");
    if (!Array.isArray(body["content"]))
      throw new Failure("broken", "unknown", "the upstream's answer has no content");
    this.read = { text, body };
    this.start(body, parts);
    this.ending(body);
    this.finish ??= "stop"; // a whole body needs no other proof of its end
  }

  told(): JsonObject {
    return exactObject(this.read.text, this.read.body);
  }

  close(parts: Part[]): void {
    for (const place of this.open.keys()) this.end(place, parts); // blocks whose end event is missing
    if (this.explanation !== "")
      parts.push({ type: "refusal", choice: 0, text: this.explanation, explains: true });
    const { list } = this.annotations;
    if (list.length > 0) parts.push({ type: "annotations", choice: 0, annotations: list });
    const reason = this.finish ?? "stop";
    parts.push({
      type: "finish",
      choice: 0,
      reason: reason === "stop" && this.calls > 0 ? "tool_calls" : reason,
    });
  }

  /** May come repeatedly; only the first one has content. */
  private start(message: Record<string, unknown>, parts: Part[]): void {
    const { id, content, usage } = message;
    this.id ??= answerIdOf(id);
    if (!this.started && Array.isArray(content))
      for (const [at, block] of content.entries()) {
        if (!isJsonObject(block)) continue;
        this.begin(WRITTEN - at, block, parts);
        this.end(WRITTEN - at, parts);
      }
    this.started = true;
    this.tell(usage, parts);
  }

  private tell(told: unknown, parts: Part[]): void {
    const usage = this.usage.tell(told);
    if (usage === null) return;
    this.usageTold = true;
    parts.push({ type: "usage", usage });
  }

  private begin(place: number, block: Record<string, unknown>, parts: Part[]): void {
    const { type, data } = block;
    this.began = true;
    if (typeof type !== "string") return;
    const standing = this.open.get(place);
    if (standing !== undefined && isToldAgain(standing, block)) return;
    this.end(place, parts);
    if (this.open.size >= OPEN_MAX)
      throw new Failure("broken", "unknown", "the upstream began too many blocks without ending any");
    const sealed = type === "redacted_thinking";
    const open: Open = {
      type: sealed || type === "thinking" ? type : "",
      from: this.textCharacters,
      cited: [],
      thought: {
        thinking: "",
        signature: "",
        data: sealed && typeof data === "string" ? this.bound.keep(data) : "",
      },
      call: null,
    };
    this.open.set(place, open);
    if (type === "text") {
      this.say(block["text"], parts);
      if (Array.isArray(block["citations"]))
        for (const citation of block["citations"]) this.cite(open, citation);
    } else if (type === "thinking") this.think(open, block, parts);
    else if (type === "tool_use") open.call = this.called(block, parts);
  }

  private grow(event: Record<string, unknown>, parts: Part[]): void {
    const { delta } = event;
    if (!isJsonObject(delta)) return;
    switch (delta["type"]) {
      case "text_delta":
        return this.say(delta["text"], parts);
      case "thinking_delta":
      case "signature_delta": {
        const open = this.open.get(placeOf(event));
        if (open?.type === "thinking") this.think(open, delta, parts);
        return;
      }
      case "input_json_delta": {
        const call = this.open.get(placeOf(event))?.call ?? null;
        if (call !== null) this.argue(call, delta["partial_json"], parts);
        return;
      }
      case "citations_delta": {
        const open = this.open.get(placeOf(event));
        if (open !== undefined) this.cite(open, delta["citation"]);
        return;
      }
      default:
        return;
    }
  }

  private end(place: number, parts: Part[]): void {
    const open = this.open.get(place);
    if (open === undefined) return;
    this.open.delete(place);
    const { type, thought, call, from, cited } = open;
    this.annotations.read(
      cited.map((page) => ({
        type: "url_citation",
        url_citation: { ...page, start_index: from, end_index: this.textCharacters },
      })),
    );
    if (call !== null && !call.spoke) this.argue(call, printedInput(call.input), parts);
    if (call !== null) this.inputCharacters -= call.characters;
    const block = blockOf({ ...thought, type });
    if (block !== null) this.kept.push({ block, after: this.textCharacters });
  }

  private say(text: unknown, parts: Part[]): void {
    if (typeof text !== "string" || text === "") return;
    this.textCharacters += text.length;
    parts.push({ type: "text", choice: 0, text });
  }

  private think(open: Open, told: Record<string, unknown>, parts: Part[]): void {
    const { thinking, signature } = told;
    // Sent once; a second one replaces it.
    if (typeof signature === "string" && signature !== "")
      open.thought.signature = this.bound.keep(signature);
    if (typeof thinking !== "string" || thinking === "") return;
    open.thought.thinking += this.bound.keep(thinking);
    parts.push({ type: "reasoning", choice: 0, text: thinking });
  }

  /** Records a page that the block's text cites; other citations have no address that a client could open. */
  private cite(open: Open, citation: unknown): void {
    if (!isJsonObject(citation) || open.cited.length >= ANNOTATIONS_MAX) return;
    const { url, source, title: named } = citation;
    const title = typeof named === "string" ? named : "";
    const address = [url, source].find((one) => typeof one === "string" && /^https?:\/\//i.test(one));
    if (typeof address !== "string") return;
    this.citedCharacters += address.length + title.length;
    if (this.citedCharacters <= CITED_CHARACTERS_MAX) open.cited.push({ url: address, title });
  }

  private called({ id, name, input }: Record<string, unknown>, parts: Part[]): Open["call"] {
    if (typeof name !== "string" || name === "") throw namelessCall();
    requireFewCalls(this.calls);
    const index = this.calls++;
    const extraContent = this.bound.begin() ? keptContent(this.kept) : null;
    this.kept = [];
    const characters = isJsonObject(input) ? JSON.stringify(input).length : 0;
    this.inputCharacters += characters;
    if (this.inputCharacters > INPUT_CHARACTERS_MAX)
      throw new Failure("broken", "unknown", "the upstream sent tool calls with too many arguments");
    parts.push({
      type: "tool_call",
      choice: 0,
      index,
      id: this.ids.give(id),
      name,
      ...(extraContent !== null && { extraContent }),
    });
    return { id, index, input, characters, spoke: false };
  }

  private argue(call: NonNullable<Open["call"]>, text: unknown, parts: Part[]): void {
    if (!isPresent(text) || text === "") return;
    if (typeof text !== "string") throw unreadableArguments();
    call.spoke = true;
    parts.push({ type: "tool_arguments", choice: 0, index: call.index, text });
  }

  /** The first reason counts, unless it is `stop`: then a later one replaces it. */
  private ending({ stop_reason: word, stop_details: details }: Record<string, unknown>): void {
    if (typeof word !== "string" || word === "") return;
    if ((this.finish ?? "stop") === "stop") this.finish = claudeFinish(word);
    if (this.finish !== "content_filter" || !isJsonObject(details)) return;
    if (typeof details["explanation"] === "string") this.explanation = details["explanation"];
  }
}

/** True for the beginning of a call that has begun there. */
const isToldAgain = ({ call }: Open, { type, id }: Record<string, unknown>): boolean =>
  type === "tool_use" && typeof id === "string" && id !== "" && call?.id === id;

/** Indexes for blocks that came complete with their message: lower than any index in a stream. */
const WRITTEN = -1;

const placeOf = ({ index }: Record<string, unknown>): number => (typeof index === "number" ? index : 0);

/** The arguments of a call whose start event already holds them. */
function printedInput(input: unknown): string {
  if (!isPresent(input)) return NO_ARGUMENTS;
  if (!isJsonObject(input)) throw unreadableArguments();
  return JSON.stringify(input);
}
