// The Responses API as its vendor publishes it: a strict schema of everything we print, checked against the types of
// the `openai` package; and a reader of its streams that refuses what a strict client would.
import { expect } from "bun:test";
import type * as Vendor from "openai/resources/responses/responses";
import { z } from "zod";
import type { GatewayJson } from "./events.ts";

const index = z.number().int().min(0);
const tokens = index;
const gateway = z.custom<Partial<GatewayJson>>((value) => typeof value === "object" && value !== null);

const alternative = z.strictObject({ token: z.string(), logprob: z.number(), bytes: z.array(index) });
const logprob = z.strictObject({ ...alternative.shape, top_logprobs: z.array(alternative) });
const annotation = z.strictObject({
  type: z.literal("url_citation"),
  start_index: index,
  end_index: index,
  url: z.string().min(1),
  title: z.string(),
});
const outputText = z.strictObject({
  type: z.literal("output_text"),
  annotations: z.array(annotation),
  logprobs: z.array(logprob),
  text: z.string(),
});
const refusal = z.strictObject({ type: z.literal("refusal"), refusal: z.string() });
const part = z.discriminatedUnion("type", [outputText, refusal]);
const summary = z.strictObject({ type: z.literal("summary_text"), text: z.string() });
const status = z.enum(["in_progress", "completed", "incomplete"]);

const message = z.strictObject({
  id: z.string().startsWith("msg_"),
  type: z.literal("message"),
  status,
  role: z.literal("assistant"),
  content: z.array(part),
});
const reasoning = z.strictObject({
  id: z.string().startsWith("rs_"),
  type: z.literal("reasoning"),
  summary: z.array(summary),
  encrypted_content: z.string().nullable().optional(),
});
const named = {
  call_id: z.string().min(1),
  name: z.string().min(1),
  namespace: z.string().min(1).optional(),
};
const functionCall = z.strictObject({
  id: z.string().startsWith("fc_"),
  type: z.literal("function_call"),
  status,
  ...named,
  arguments: z.string(),
});
const customCall = z.strictObject({
  id: z.string().startsWith("ctc_"),
  type: z.literal("custom_tool_call"),
  ...named,
  input: z.string(),
});
const item = z.discriminatedUnion("type", [message, reasoning, functionCall, customCall]);
type ItemJson = z.output<typeof item>;

const usage = z.strictObject({
  input_tokens: tokens,
  input_tokens_details: z.strictObject({ cached_tokens: tokens, cache_write_tokens: tokens }),
  output_tokens: tokens,
  output_tokens_details: z.strictObject({ reasoning_tokens: tokens }),
  total_tokens: tokens,
});
const format = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({ type: z.literal("json_object") }),
  z.strictObject({
    type: z.literal("json_schema"),
    name: z.string(),
    description: z.string().optional(),
    schema: z.record(z.string(), z.unknown()),
    strict: z.boolean().nullable().optional(),
  }),
]);
const choice = z.enum(["none", "auto", "required"]);

export const responseSchema = z.strictObject({
  id: z.string().regex(/^resp_[0-9a-f]{32}$/),
  object: z.literal("response"),
  created_at: index,
  status: z.enum(["in_progress", "completed", "incomplete", "failed"]),
  error: z
    .strictObject({
      // The vendor's list of codes is closed; ours are those of docs/errors.md.
      code: z.custom<Vendor.ResponseError["code"]>((code) => typeof code === "string" && code !== ""),
      message: z.string().min(1),
      param: z.string().nullable(),
      type: z.string(),
    })
    .nullable(),
  incomplete_details: z.strictObject({ reason: z.enum(["max_output_tokens", "content_filter"]) }).nullable(),
  output: z.array(item),
  model: z.string(),
  access_programs: z.null(),
  instructions: z.string().nullable(),
  max_output_tokens: z.number().int().nullable(),
  metadata: z.record(z.string(), z.string()),
  parallel_tool_calls: z.boolean(),
  previous_response_id: z.null(),
  prompt_cache_key: z.string().nullable(),
  reasoning: z.strictObject({
    effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]).nullable(),
    summary: z.enum(["auto", "concise", "detailed"]).nullable(),
  }),
  safety_identifier: z.string().nullable(),
  store: z.literal(false),
  background: z.literal(false),
  temperature: z.number().nullable(),
  text: z.strictObject({ format, verbosity: z.enum(["low", "medium", "high"]).optional() }),
  tool_choice: choice,
  tools: z.array(z.custom<Vendor.Tool>((tool) => typeof tool === "object")),
  top_logprobs: index,
  top_p: z.number().nullable(),
  truncation: z.enum(["auto", "disabled"]),
  user: z.string().optional(),
  service_tier: z.enum(["auto", "default", "flex", "scale", "priority"]).optional(),
  usage: usage.nullable(),
  gateway,
});
export type ResponseJson = z.output<typeof responseSchema>;

const event = <Name extends string, Shape extends z.ZodRawShape>(name: Name, shape: Shape) =>
  z.strictObject({ type: z.literal(name), sequence_number: index, ...shape });
const ofItem = { item_id: z.string().min(1), output_index: index };
const ofPart = { ...ofItem, content_index: index };
const ofSummary = { ...ofItem, summary_index: index };
/** An upstream of this same shape may pad its events. */
const delta = { delta: z.string(), obfuscation: z.string().optional() };

const eventSchema = z.discriminatedUnion("type", [
  event("response.created", { response: responseSchema }),
  event("response.in_progress", { response: responseSchema }),
  event("response.completed", { response: responseSchema }),
  event("response.incomplete", { response: responseSchema }),
  event("response.failed", { response: responseSchema }),
  event("response.output_item.added", { output_index: index, item }),
  event("response.output_item.done", { output_index: index, item }),
  event("response.content_part.added", { ...ofPart, part }),
  event("response.content_part.done", { ...ofPart, part }),
  event("response.output_text.delta", { ...ofPart, ...delta, logprobs: z.array(logprob) }),
  event("response.output_text.done", { ...ofPart, text: z.string(), logprobs: z.array(logprob) }),
  event("response.output_text.annotation.added", { ...ofPart, annotation_index: index, annotation }),
  event("response.refusal.delta", { ...ofPart, ...delta }),
  event("response.refusal.done", { ...ofPart, refusal: z.string() }),
  event("response.reasoning_summary_part.added", { ...ofSummary, part: summary }),
  event("response.reasoning_summary_part.done", { ...ofSummary, part: summary }),
  event("response.reasoning_summary_text.delta", { ...ofSummary, ...delta }),
  event("response.reasoning_summary_text.done", { ...ofSummary, text: z.string() }),
  event("response.function_call_arguments.delta", { ...ofItem, ...delta }),
  event("response.function_call_arguments.done", { ...ofItem, arguments: z.string() }),
  event("response.custom_tool_call_input.delta", { ...ofItem, ...delta }),
  event("response.custom_tool_call_input.done", { ...ofItem, input: z.string() }),
]);
type ResponseEventJson = z.output<typeof eventSchema>;

type Plain<Event> = Event extends { response: unknown } ? Omit<Event, "response"> : Event;

/** Compiles only if the vendor's own types accept everything that the schemas accept. */
const taken = {
  event: (ours: Plain<ResponseEventJson>): Plain<Vendor.ResponseStreamEvent> => ours,
  response: (ours: Omit<ResponseJson, "usage">): Omit<Vendor.Response, "output_text" | "usage"> => ours,
  usage: (ours: NonNullable<ResponseJson["usage"]>): Vendor.ResponseUsage => ours,
};

export interface ResponseStreamJson {
  events: ResponseEventJson[];
  /** The `id` lines; empty if it has none. */
  ids: number[];
  final: ResponseJson;
}

const BLOCK = /^(?:id: (\d+)\n)?event: ([\w.]+)\ndata: (.*)$/;

/** Reads a whole stream; fails where a strict client would. `interrupted`: its items were not closed. */
export function readResponseStream(raw: string, { interrupted = false } = {}): ResponseStreamJson {
  const blocks = raw.split("\n\n").filter((block) => !block.startsWith(":"));
  expect(blocks.pop()).toBe("");
  const ids: number[] = [];
  const events = blocks.map((block, place) => {
    const [, id, name, data = ""] = BLOCK.exec(block) ?? [];
    if (id !== undefined) ids.push(Number(id));
    const read = eventSchema.parse(JSON.parse(data));
    taken.event(read);
    expect([read.type as string, read.sequence_number]).toEqual([name ?? "no event", place]);
    return read;
  });
  expect(ids).toEqual(ids.map((_, at) => at + 1));
  const last = events.at(-1);
  if (last === undefined || !("response" in last)) throw new Error("a stream without an end");
  const output = new Output();
  for (const [place, one] of events.entries()) {
    if (!("response" in one)) output.read(one);
    else if (place === 0) expect(one.type).toBe("response.created");
    else if (place === 1 && one !== last) expect(one.type).toBe("response.in_progress");
    else expect(one).toBe(last);
  }
  const first = events[0];
  if (first !== undefined && "response" in first) expect(first.response.id).toBe(last.response.id);
  expect(last.type).toBe(`response.${last.response.status}` as typeof last.type);
  if (!interrupted) expect(output.whole()).toEqual(last.response.output);
  taken.response(last.response);
  if (last.response.usage !== null) taken.usage(last.response.usage);
  return { events, ids, final: last.response };
}

interface OpenPart {
  kind: string;
  text: string;
  open: boolean;
}

interface OpenItem {
  item: ItemJson;
  done: ItemJson | null;
  parts: OpenPart[];
  text: string;
}

/** What a client assembles from the events. */
class Output {
  private readonly items: OpenItem[] = [];

  whole(): (ItemJson | null)[] {
    return this.items.map(({ done }) => done);
  }

  read(one: Exclude<ResponseEventJson, { response: ResponseJson }>): void {
    if (one.type === "response.output_item.added") {
      expect(one.output_index).toBe(this.items.length);
      expect(this.items.map(({ item: { id } }) => id)).not.toContain(one.item.id);
      this.items.push({ item: one.item, done: null, parts: [], text: "" });
      return;
    }
    const at = this.items[one.output_index];
    if (at === undefined || at.done !== null) throw new Error(`${one.type} of an item that is not open`);
    if (one.type === "response.output_item.done") return this.done(at, one.item);
    expect(one.item_id).toBe(at.item.id);
    if ("content_index" in one) return this.part(at, one.content_index, one);
    if ("summary_index" in one) return this.part(at, one.summary_index, one);
    if ("delta" in one) at.text += one.delta;
    else expect("input" in one ? one.input : one.arguments).toBe(at.text);
  }

  private part(at: OpenItem, place: number, one: Extract<ResponseEventJson, { item_id: string }>): void {
    if ("part" in one && one.type.endsWith(".added")) {
      expect(place).toBe(at.parts.length);
      at.parts.push({ kind: one.part.type, text: "", open: true });
      return;
    }
    const part = at.parts[place];
    if (part?.open !== true) throw new Error(`${one.type} of a part that is not open`);
    if ("delta" in one) part.text += one.delta;
    else if ("part" in one) {
      expect("refusal" in one.part ? one.part.refusal : one.part.text).toBe(part.text);
      part.open = false;
    } else if ("refusal" in one) expect(one.refusal).toBe(part.text);
    else if ("text" in one) expect(one.text).toBe(part.text);
  }

  private done(at: OpenItem, item: ItemJson): void {
    expect([item.type as string, item.id]).toEqual([at.item.type, at.item.id]);
    expect(at.parts.some(({ open }) => open)).toBe(false);
    const told = {
      message: () => (item.type === "message" ? item.content : []),
      reasoning: () => (item.type === "reasoning" ? item.summary : []),
      function_call: () => (item.type === "function_call" ? [{ text: item.arguments }] : []),
      custom_tool_call: () => (item.type === "custom_tool_call" ? [{ text: item.input }] : []),
    }[item.type]();
    const texts = told.map((part) => ("refusal" in part ? part.refusal : part.text));
    expect(texts).toEqual(item.type.endsWith("_call") ? [at.text] : at.parts.map(({ text }) => text));
    at.done = item;
  }
}
