// What a stream leaves in the ledger while it runs (money.md §4): the evidence that a crash is charged by.
import { afterEach, expect, mock, spyOn, test } from "bun:test";
import { TokenCounter } from "../pricing/token-counter.ts";
import { ReplayBuffer } from "./replay-buffer.ts";
import { StreamSession } from "./stream-session.ts";

afterEach(() => mock.restore());

/** A stream that has delivered five words, and whose upstream sends nothing more. */
function session(): StreamSession {
  const text = { type: "text", choice: 0, text: "one two three four five" };
  const admitted = {
    request: { n: 1 },
    requestId: "req_1",
    organizationId: "org_a",
    outputTokensMax: 1000,
    startedAtMs: 0,
    idempotency: { value: "req_1", callerSupplied: false },
    candidates: [],
    researchMode: false,
  };
  const size = { bytes: 1000, messages: 1, tools: 0, images: 0, files: 0 };
  const release = {
    tokenizer: "o200k_base",
    digest: "d",
    model: "m",
    provider: "p",
    region: "r",
    version: 1,
    tier: "standard",
  };
  const stream = {
    hold: { admitted, attempts: [] },
    callScope: { reason: null },
    frames: { begin: () => "", part: () => "frame" },
    replay: ReplayBuffer.unkept(),
  };
  const streaming = {
    attempt: { candidate: { release, body: { size, text: () => "a prompt" } } },
    first: [text],
    rest: { next: () => new Promise(() => {}) },
    upstreamId: () => null,
  };
  return new StreamSession(
    stream as unknown as ConstructorParameters<typeof StreamSession>[0],
    streaming as unknown as ConstructorParameters<typeof StreamSession>[1],
  );
}

test("a prompt that is counted late is kept, though nothing more was delivered; once", async () => {
  const { promise, resolve } = Promise.withResolvers<{ kind: "exact"; tokens: number }>();
  spyOn(TokenCounter.prototype, "count").mockImplementation((asked) =>
    typeof asked === "string" ? Promise.resolve({ kind: "exact", tokens: 0 }) : promise,
  );
  const stream = session();
  stream.first();
  void stream.read(); // the client has taken what came
  const counting = stream.count();
  const early = stream.checkpoint();
  expect(early).toMatchObject({ promptTokens: 0, deliveredTokens: 5 });
  if (early !== null) stream.kept(early);
  expect(stream.checkpoint()).toBeNull();
  resolve({ kind: "exact", tokens: 40 });
  await counting;
  const late = stream.checkpoint();
  expect(late?.promptTokens).toBeGreaterThanOrEqual(40);
  expect(late?.deliveredTokens).toBe(5);
  if (late !== null) stream.kept(late);
  expect(stream.checkpoint()).toBeNull();
});
