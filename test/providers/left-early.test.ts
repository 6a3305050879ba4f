// A client that leaves before the first word: the usage that its provider reported by then is charged, and nothing if
// none was reported (money.md §4).
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { RequestRecord } from "../../src/ledger/records.ts";
import { loopTurns, waitFor } from "../support/wait.ts";
import { candidate, chunk, events, question, type Scripted, started, startScripted } from "./scripted.ts";

let house: Scripted;
beforeAll(async () => {
  house = await startScripted();
});
afterAll(() => house.stop());

/** Sends this, and then nothing for as long as it is read. */
const hanging = (begin: string): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(begin)),
    cancel: () => {},
  });

/** Sends a request, leaves before the first word, and waits for the ledger's record. */
async function leaving(path: string, body: object): Promise<RequestRecord> {
  const calls = house.calls;
  const client = new AbortController();
  const asked = fetch(`${house.gateway.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${house.one.secret}` },
    body: JSON.stringify(body),
    signal: client.signal,
  }).catch(() => null);
  await waitFor(async () => house.calls > calls, "the call");
  await loopTurns(); // what the provider says first has been read
  client.abort();
  await asked;
  let last: RequestRecord | null = null;
  await waitFor(async () => {
    const rows = (await house.gateway.rowsOf("request")) as { request_id: string; admitted_at: number }[];
    const newest = rows.toSorted((a, b) => Number(b.admitted_at) - Number(a.admitted_at))[0];
    last = newest === undefined ? null : await house.gateway.request(newest.request_id);
    return last !== null && ["settled", "released"].includes(last.state);
  }, "its end");
  if (last === null) throw new Error("no request");
  return last;
}

const USAGE = { input_tokens: 100, output_tokens: 1 };
test.each([
  ["claude", "/v1/chat/completions", events(started(USAGE))],
  ["claude", "/v1/messages", events(started(USAGE))],
  [
    "openai",
    "/v1/chat/completions",
    events({ ...chunk({ role: "assistant" }), usage: { prompt_tokens: 100, completion_tokens: 1 } }),
  ],
  [
    "gemini",
    "/v1/chat/completions",
    events({ usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 1 } }),
  ],
])("reported usage is charged, though there was no text: %s, %s", async (shape, path, begin) => {
  house.says(hanging(begin));
  const record = await leaving(path, question(shape));
  expect(record).toMatchObject({
    state: "settled",
    status: 499,
    evidence: "provider_usage",
    charge: 202_000n,
    usage: { promptTokens: 100, completionTokens: 1 },
  });
  expect(record.attempts).toMatchObject([{ outcome: "unknown", errorClass: "aborted" }]);
});

test.each([
  ["nothing", "openai", events(chunk({ role: "assistant" }))],
  ["zeros", "claude", events(started({ input_tokens: 0, output_tokens: 0 }))],
  ["an empty candidate", "gemini", events(candidate([{ text: "" }]))],
])("if %s was reported by then, nothing is charged", async (_, shape, begin) => {
  house.says(hanging(begin));
  const record = await leaving("/v1/chat/completions", question(shape));
  expect(record).toMatchObject({ state: "released", charge: 0n });
});
