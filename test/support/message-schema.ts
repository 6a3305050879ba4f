// What clients of the Messages API expect, as strictly as possible: the vendor's published types, each object closed
// except for `gateway`. Also assembles a stream as the vendor's own helper does.
import { expect } from "bun:test";
import { z } from "zod";
import type { GatewayJson } from "./events.ts";

const count = z.number().int().min(0);
const gateway = z
  .looseObject({ request_id: z.string() })
  .transform((value) => value as unknown as GatewayJson);

const usage = z.strictObject({
  input_tokens: count,
  output_tokens: count,
  cache_creation_input_tokens: count.optional(),
  cache_read_input_tokens: count.optional(),
  cache_creation: z
    .strictObject({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count })
    .optional(),
  output_tokens_details: z.strictObject({ thinking_tokens: count }).optional(),
  server_tool_use: z.strictObject({ web_search_requests: count }).optional(),
  service_tier: z.enum(["standard", "priority", "batch"]).optional(),
});
const citation = z.strictObject({
  type: z.literal("web_search_result_location"),
  cited_text: z.string(),
  url: z.string(),
  title: z.string().nullable(),
  encrypted_index: z.string(),
});
const block = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string(), citations: z.array(citation).optional() }),
  z.strictObject({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() }),
  z.strictObject({ type: z.literal("redacted_thinking"), data: z.string().min(1) }),
  z.strictObject({
    type: z.literal("tool_use"),
    id: z.string().min(1),
    name: z.string().min(1),
    input: z.record(z.string(), z.unknown()),
  }),
]);
const STOPS = [
  "end_turn",
  "max_tokens",
  "stop_sequence",
  "tool_use",
  "pause_turn",
  "refusal",
  "model_context_window_exceeded",
] as const;

/** For a refusal that the vendor explains. */
const stopDetails = z.strictObject({
  type: z.literal("refusal"),
  category: z.string().nullable().optional(),
  explanation: z.string().nullable(),
});

const message = z.strictObject({
  id: z.string().regex(/^msg_[0-9a-f]{32}$/),
  type: z.literal("message"),
  role: z.literal("assistant"),
  model: z.string(),
  content: z.array(block),
  stop_reason: z.enum(STOPS).nullable(),
  stop_sequence: z.string().nullable(),
  stop_details: stopDetails.optional(),
  usage,
  gateway,
});
export type MessageJson = z.output<typeof message>;

export const errorBody = z.strictObject({
  type: z.literal("error"),
  error: z.strictObject({
    type: z.string(),
    message: z.string(),
    code: z.string(),
    param: z.string().nullable(),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
  request_id: z.string().regex(/^req_[0-9a-f]{32}$/),
  gateway: gateway.optional(),
});

const delta = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text_delta"), text: z.string() }),
  z.strictObject({ type: z.literal("thinking_delta"), thinking: z.string() }),
  z.strictObject({ type: z.literal("signature_delta"), signature: z.string() }),
  z.strictObject({ type: z.literal("input_json_delta"), partial_json: z.string() }),
  z.strictObject({ type: z.literal("citations_delta"), citation }),
]);
const event = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("message_start"), message }),
  z.strictObject({ type: z.literal("ping") }),
  z.strictObject({ type: z.literal("content_block_start"), index: count, content_block: block }),
  z.strictObject({ type: z.literal("content_block_delta"), index: count, delta }),
  z.strictObject({ type: z.literal("content_block_stop"), index: count }),
  z.strictObject({
    type: z.literal("message_delta"),
    delta: z.strictObject({
      stop_reason: z.enum(STOPS),
      stop_sequence: z.string().nullable(),
      stop_details: stopDetails.optional(),
    }),
    usage,
    gateway,
  }),
  z.strictObject({ type: z.literal("message_stop") }),
  errorBody,
]);
export type MessageEvent = z.output<typeof event>;

export const readMessage = (text: string): MessageJson => message.parse(JSON.parse(text));

export interface NumberedEvent {
  id: number | null;
  data: MessageEvent;
}

/** The events of a stream; each event's name must match its data. */
export function eventsOfMessage(text: string): NumberedEvent[] {
  const whole = text.split("\n\n");
  expect(whole.pop()).toBe("");
  return whole
    .filter((lines) => !lines.startsWith(":"))
    .map((lines) => {
      const [, id, name, data = ""] = /^(?:id: (\d+)\n)?event: ([a-z_]+)\ndata: (.*)$/.exec(lines) ?? [];
      const read = event.parse(JSON.parse(data));
      expect(read.type).toBe(name as typeof read.type);
      return { id: id === undefined ? null : Number(id), data: read };
    });
}

const DELTAS: Record<string, string> = {
  text_delta: "text",
  thinking_delta: "thinking",
  signature_delta: "thinking",
  input_json_delta: "tool_use",
  citations_delta: "text",
};

/** The message of a whole stream. Fails if its events are out of order. */
export function finalMessage(events: readonly MessageEvent[]): MessageJson {
  const [first, ...rest] = events.filter(({ type }) => type !== "ping");
  if (first?.type !== "message_start") throw new Error(`begins with ${first?.type}`);
  const said = structuredClone(first.message);
  expect(said.content).toEqual([]);
  let open: { index: number; json: string } | null = null;
  let state: "blocks" | "told" | "over" = "blocks";
  for (const data of rest) {
    if (state === "over") throw new Error(`${data.type} after the end`);
    switch (data.type) {
      case "content_block_start":
        expect([open, data.index, state]).toEqual([null, said.content.length, "blocks"]);
        said.content.push(structuredClone(data.content_block));
        open = { index: data.index, json: "" };
        break;
      case "content_block_delta": {
        const block = said.content[data.index];
        expect(open?.index).toBe(data.index);
        expect(DELTAS[data.delta.type]).toBe(block?.type ?? "none");
        grow(block, data.delta, open);
        break;
      }
      case "content_block_stop": {
        expect(open?.index).toBe(data.index);
        const block = said.content[data.index];
        if (block?.type === "tool_use" && open !== null && open.json !== "")
          block.input = JSON.parse(open.json) as Record<string, unknown>;
        open = null;
        break;
      }
      case "message_delta":
        expect(open).toBeNull();
        Object.assign(said, data.delta, { usage: { ...said.usage, ...data.usage }, gateway: data.gateway });
        expect(data.usage.output_tokens).toBeGreaterThanOrEqual(first.message.usage.output_tokens);
        state = "told";
        break;
      case "message_stop":
        expect(state).toBe("told");
        state = "over";
        break;
      case "message_start":
      case "ping":
      case "error":
        throw new Error(`a ${data.type} in the middle`);
    }
  }
  expect(state).toBe("over");
  return said;
}

function grow(
  block: MessageJson["content"][number] | undefined,
  said: z.output<typeof delta>,
  open: { json: string } | null,
): void {
  if (block?.type === "text" && said.type === "text_delta") block.text += said.text;
  if (block?.type === "text" && said.type === "citations_delta")
    block.citations = [...(block.citations ?? []), said.citation];
  if (block?.type === "thinking" && said.type === "thinking_delta") block.thinking += said.thinking;
  if (block?.type === "thinking" && said.type === "signature_delta") block.signature = said.signature;
  if (said.type === "input_json_delta" && open !== null) open.json += said.partial_json;
}
