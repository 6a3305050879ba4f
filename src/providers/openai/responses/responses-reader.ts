// Reads an answer of the Responses shape into parts (wire.md §8.2): its events, or its whole body. Content that came
// in deltas is not repeated from what closes it; content without deltas is read there. The caller also gets the
// events themselves.
import { RepeatedEvents } from "../../../domain/repeated-events.ts";
import { exactObject } from "../../../domain/exact-json.ts";
import { isJsonObject } from "../../../domain/read-value.ts";
import type { JsonObject } from "../../../domain/read-value.ts";
import { answerIdOf } from "../../answer-id.ts";
import { requireFewCalls } from "../../calls-max.ts";
import { Failure } from "../../failure.ts";
import type { AnswerReader, EventEnd } from "../../codec.ts";
import { readObject } from "../../http/json.ts";
import type { FinishReason, Part } from "../../provider.ts";
import { errorOf } from "../read-error.ts";
import { withMarks } from "./reasoning-marks.ts";
import { readResponsesUsage } from "./responses-usage.ts";

const CALLS = new Set(["function_call", "custom_tool_call"]);

/** The reader of one answer, streamed or whole. */
export class ResponsesReader implements AnswerReader<string> {
  id: string | null = null;
  complete = false;
  usageTold = false;
  lastEvent: JsonObject = {};
  began = false;
  private reason: FinishReason = "stop";
  private body: JsonObject = {};
  /** Our index of a call by its place in the output. */
  private readonly calls = new Map<number, number>();
  /** The output places that had content. */
  private readonly heard = new Set<number>();

  private readonly repeats = new RepeatedEvents();

  /** `issuer` identifies the reasoning that this upstream seals. */
  constructor(private readonly issuer: string) {}

  passOn(text: string): string {
    return withMarks(text, this.issuer);
  }

  event(data: string, parts: Part[]): EventEnd {
    if (data.startsWith("[DONE]")) return "done";
    if (data === "" || this.repeats.has(data)) return null;
    const event = readObject(data, "the upstream sent an event");
    this.lastEvent = event;
    const { type, response } = event;
    if (typeof type !== "string") return event["error"] ? errorOf(event) : null;
    this.began ||= event["output_index"] !== undefined;
    switch (type) {
      case "response.output_text.delta":
        return this.say("text", event, parts);
      case "response.refusal.delta":
        return this.say("refusal", event, parts);
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return this.say("reasoning", event, parts);
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
        return this.argue(event, parts);
      case "response.output_item.added":
        return this.begin(event, parts);
      case "response.output_item.done":
        return this.done(event, parts);
      case "response.completed":
      case "response.incomplete":
        this.end(isJsonObject(response) ? response : {}, parts);
        return "done";
      case "response.failed":
        this.began ||= isJsonObject(response) && hasOutput(response);
        return errorOf(isJsonObject(response) ? (response["error"] ?? {}) : {});
      case "error":
        return errorOf(event);
      default:
        if (isJsonObject(response)) this.head(response);
        return null;
    }
  }

  whole(text: string, parts: Part[]): void {
    const marked = withMarks(text, this.issuer);
    const body = readObject(marked, "the upstream answered 200 with something");
    this.body = exactObject(marked, body);
    const { error, status } = body;
    if (error || body["object"] === "error" || status === "failed" || status === "cancelled")
      throw new Failure("broken", "unknown", "the upstream answered 200 with an error body");
    if (status === "queued" || status === "in_progress" || !Array.isArray(body["output"])) return;
    this.end(body, parts);
  }

  told(): JsonObject {
    return this.body;
  }

  close(parts: Part[]): void {
    const reason = this.reason === "stop" && this.calls.size > 0 ? "tool_calls" : this.reason;
    parts.push({ type: "finish", choice: 0, reason });
  }

  private head({ id }: JsonObject): void {
    this.id ??= answerIdOf(id);
  }

  private say(type: "text" | "refusal" | "reasoning", event: JsonObject, parts: Part[]): null {
    this.began = true;
    const { delta } = event;
    this.heard.add(placeOf(event));
    if (typeof delta === "string" && delta !== "") parts.push({ type, choice: 0, text: delta });
    return null;
  }

  private argue(event: JsonObject, parts: Part[]): null {
    const place = placeOf(event);
    const index = this.calls.get(place) ?? this.call({}, place, parts);
    this.heard.add(place);
    const { delta } = event;
    if (typeof delta === "string" && delta !== "")
      parts.push({ type: "tool_arguments", choice: 0, index, text: delta });
    return null;
  }

  private begin(event: JsonObject, parts: Part[]): null {
    const { item } = event;
    const place = placeOf(event);
    if (isJsonObject(item) && CALLS.has(String(item["type"])) && !this.calls.has(place))
      this.call(item, place, parts);
    return null;
  }

  private call(item: JsonObject, place: number, parts: Part[]): number {
    const index = this.calls.size;
    requireFewCalls(index);
    this.calls.set(place, index);
    const { call_id: id, name } = item;
    parts.push({ type: "tool_call", choice: 0, index, id: textOf(id), name: textOf(name) });
    return index;
  }

  /** Reads an item that had no content before its end. */
  private done(event: JsonObject, parts: Part[]): null {
    const { item } = event;
    const place = placeOf(event);
    if (isJsonObject(item) && !this.heard.has(place)) this.tell(item, place, parts);
    return null;
  }

  private end(response: JsonObject, parts: Part[]): void {
    this.head(response);
    const { output, usage, status, incomplete_details: details } = response;
    if (this.heard.size === 0 && Array.isArray(output))
      for (const [place, item] of (output as unknown[]).entries())
        if (isJsonObject(item)) this.tell(item, place, parts);
    if (status === "incomplete")
      this.reason =
        isJsonObject(details) && details["reason"] === "content_filter" ? "content_filter" : "length";
    this.complete = true;
    const figures = readResponsesUsage(usage, response);
    if (figures === null) return;
    this.usageTold = true;
    parts.push({ type: "usage", usage: figures });
  }

  private tell(item: JsonObject, place: number, parts: Part[]): void {
    this.heard.add(place);
    if (CALLS.has(String(item["type"]))) {
      const index = this.calls.get(place) ?? this.call(item, place, parts);
      const text = textOf(item["arguments"] ?? item["input"]);
      if (text !== "") parts.push({ type: "tool_arguments", choice: 0, index, text });
      return;
    }
    const thought = item["type"] === "reasoning";
    for (const list of [item["summary"], item["content"]])
      for (const part of Array.isArray(list) ? (list as unknown[]) : []) {
        if (!isJsonObject(part)) continue;
        const refused = part["type"] === "refusal";
        const text = textOf(refused ? part["refusal"] : part["text"]);
        const type = thought ? "reasoning" : refused ? "refusal" : "text";
        if (text !== "") parts.push({ type, choice: 0, text });
      }
  }
}

/** A failed response contains the output so far, or its size. */
const hasOutput = (response: JsonObject): boolean =>
  (Array.isArray(response["output"]) && response["output"].length > 0) ||
  (readResponsesUsage(response["usage"], response)?.completionTokens ?? 0) > 0;

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const placeOf = ({ output_index: place }: JsonObject): number => (typeof place === "number" ? place : -1);
