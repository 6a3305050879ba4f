// Every recorded usage object through every surface: the same charge on each, streamed or not, and the classes that
// the answer reports are those that were billed (surfaces.md, head; providers.md §4).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import type { RequestRecord } from "../../src/ledger/records.ts";
import { HEARS, type SurfaceOf } from "./answers.ts";
import {
  candidate,
  chunk,
  block,
  events,
  frames,
  type Script,
  type Scripted,
  startScripted,
} from "./scripted.ts";

const FILE = `${import.meta.dir}/../../../shared/fixtures/usages/usages.json`;
interface Row {
  format: string;
  model: string | null;
  usage?: Record<string, unknown>;
  usageMetadata?: Record<string, unknown>;
  expected: Record<string, number>;
}
const ROWS = existsSync(FILE) ? (JSON.parse(readFileSync(FILE, "utf8")) as Row[]) : [];

let house: Scripted;
beforeAll(async () => {
  house = await startScripted({ also: { context_window: 3_000_000, max_output_tokens: 64_000 } });
});
afterAll(() => house.stop());

const json = (body: object): string => JSON.stringify(body);
interface Format {
  shape: string;
  surfaces: (keyof typeof HEARS)[];
  stream(usage: object): Script;
  whole(usage: object): string;
}
const ALL = Object.keys(HEARS) as Format["surfaces"];
const message = { id: "m", type: "message", role: "assistant", content: [{ type: "text", text: "Hi" }] };
const item = {
  id: "msg_1",
  type: "message",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text: "Hi", annotations: [] }],
};
const response = (usage: object): object => ({
  id: "r",
  object: "response",
  status: "completed",
  output: [item],
  usage,
});
const FORMATS: Record<string, Format> = {
  "openai-chat": {
    shape: "openai",
    surfaces: ALL,
    stream: (usage) => events(chunk({ content: "Hi" }), chunk({}, "stop"), { choices: [], usage }, "[DONE]"),
    whole: (usage) =>
      json({ choices: [{ index: 0, message: { content: "Hi" }, finish_reason: "stop" }], usage }),
  },
  "openai-responses": {
    shape: "responses",
    surfaces: ["/v1/responses"],
    stream: (usage) => events({ type: "response.completed", response: response(usage) }),
    whole: (usage) => json(response(usage)),
  },
  "anthropic-messages": {
    shape: "claude",
    surfaces: ALL,
    stream: (usage) =>
      events(
        { type: "message_start", message: { ...message, content: [], usage } },
        ...block({ type: "text", text: "" }, { type: "text_delta", text: "Hi" }),
        { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage },
        { type: "message_stop" },
      ),
    whole: (usage) => json({ ...message, stop_reason: "end_turn", stop_sequence: null, usage }),
  },
  "gemini-generate-content": {
    shape: "gemini",
    surfaces: ALL,
    stream: (usageMetadata) =>
      events(candidate([{ text: "Hi" }]), { ...candidate([], "STOP"), usageMetadata }),
    whole: (usageMetadata) => json({ ...candidate([{ text: "Hi" }], "STOP"), usageMetadata }),
  },
  "bedrock-converse": {
    shape: "bedrock",
    surfaces: ALL,
    stream: (usage) =>
      frames(
        ["messageStart", { role: "assistant" }],
        ["contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Hi" } }],
        ["contentBlockStop", { contentBlockIndex: 0 }],
        ["messageStop", { stopReason: "end_turn" }],
        ["metadata", { usage }],
      ),
    whole: (usage) =>
      json({
        output: { message: { role: "assistant", content: [{ text: "Hi" }] } },
        stopReason: "end_turn",
        usage,
      }),
  },
};

/**
 * A prompt that has room for the reported usage: nothing is clamped at its bound, which differs for each surface's
 * body.
 */
function asking(
  surface: SurfaceOf,
  shape: string,
  { stream, text }: { stream: boolean; text: string },
): object {
  const body = surface.ask(shape, stream, []) as Record<string, unknown>;
  const most = "input" in body ? { max_output_tokens: 8000 } : { max_tokens: 8000 };
  return {
    ...body,
    ...most,
    ...("input" in body ? { input: text } : { messages: [{ role: "user", content: text }] }),
  };
}

const booked = ({ usage, charge, evidence, variance, state }: RequestRecord): object => ({
  usage,
  charge,
  evidence,
  variance,
  state,
});

test.skipIf(ROWS.length === 0)("every format is tested", () => {
  expect([...new Set(ROWS.map(({ format }) => format))].toSorted()).toEqual(Object.keys(FORMATS).toSorted());
});

for (const [name, format] of Object.entries(FORMATS))
  describe(name, () => {
    for (const [at, row] of ROWS.filter(({ format: of }) => of === name).entries())
      test(`${at}, ${row.model}`, async () => {
        const { usage, usageMetadata, expected } = row;
        const told = usage ?? usageMetadata ?? {};
        const text = "a".repeat((expected["input_tokens"] ?? 0) + 1000);
        let first: object | null = null;
        for (const path of format.surfaces)
          for (const stream of [false, true]) {
            house.says(stream ? format.stream(told) : format.whole(told));
            const {
              status,
              text: raw,
              record,
            } = await house.post(path, asking(HEARS[path], format.shape, { stream, text }));
            expect([status, path, stream]).toEqual([200, path, stream]);
            first ??= booked(record);
            expect({ path, stream, ...booked(record) }).toEqual({ path, stream, ...first });
            expect(record.charge).toBeGreaterThan(0n);
            if (expected["input_tokens"] !== undefined)
              expect(record.usage?.promptTokens).toBe(expected["input_tokens"]);
            expect(raw).toContain(`"customer_charge_usd":${Number(record.charge) / 1e9}`);
          }
      });
  });
