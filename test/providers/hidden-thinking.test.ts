// A model with hidden reasoning sends nothing for minutes, while its provider reports that it is working: that does
// not count as silence.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { block, ended, events, question, type Scripted, started, startScripted } from "./scripted.ts";

const SILENCE_MS = 1_000;
let house: Scripted;
beforeAll(async () => {
  house = await startScripted({ silenceMs: SILENCE_MS });
});
afterAll(() => house.stop());

/** So many pings at a fifth of the silence timeout, between a beginning and an end. */
function slowly(begin: string, end: string, pings = 8): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder();
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(bytes.encode(begin));
      for (let n = 0; n < pings; n += 1) {
        await Bun.sleep(SILENCE_MS / 5);
        controller.enqueue(bytes.encode(events({ type: "ping" })));
      }
      if (pings === 0) await Bun.sleep(2 * SILENCE_MS);
      controller.enqueue(bytes.encode(end));
      controller.close();
    },
    cancel() {}, // the gateway gave up
  });
}

const [THOUGHT = {}, ENDED = {}] = block({ type: "thinking", thinking: "", signature: "" });
const REST = events(
  ENDED,
  ...block({ type: "text", text: "" }, { type: "text_delta", text: "Hello" }),
  ...ended("end_turn", 150),
);

test.each(["/v1/chat/completions", "/v1/messages"])(
  "a thought that is not told is waited for as long as events come: %s",
  async (path) => {
    house.says(slowly(events(started(), THOUGHT), REST));
    const { status, text, record } = await house.post(path, question("claude"));
    expect(status).toBe(200);
    expect(text).toContain("Hello");
    expect(record).toMatchObject({ evidence: "provider_usage", usage: { completionTokens: 150 } });
  },
);

test.each<[string, () => ReadableStream<Uint8Array>]>([
  ["where no thought has begun", () => slowly(events(started()), REST)],
  ["where nothing comes behind its beginning", () => slowly(events(started(), THOUGHT), REST, 0)],
])("%s it is silence as before", async (_, script) => {
  house.says(script());
  const { status, record } = await house.post("/v1/chat/completions", question("claude"));
  expect([status, record.attempts[0]?.errorClass]).toEqual([504, "timeout"]);
});
