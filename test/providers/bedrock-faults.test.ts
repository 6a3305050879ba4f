// Faults of Bedrock behind a real gateway: what is charged, what is tried elsewhere, and what is signed.
import { describe, expect, test } from "bun:test";
import { type IncomingHttpHeaders } from "node:http";
import { nanoUsd } from "../../src/domain/money.ts";
import { awsSigner } from "../../src/providers/credentials/aws-sigv4.ts";
import { eventFrame, exceptionFrame } from "../../src/providers/simulator/bedrock/frame.ts";
import { type ErrorJson, gatewayOf, textOf } from "../support/events.ts";
import { hello } from "../support/gateway.ts";
import { customer, gateway, invoiced, KEY, odd, say, spent, withBedrock } from "./bedrock-gateway.ts";

withBedrock();

describe("one call, nothing held, nothing charged", () => {
  const SSE =
    'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
  const text = eventFrame("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "hi" } });
  const flipped = Buffer.from(text);
  flipped.writeUInt8(flipped.readUInt8(20) ^ 0xff, 20);
  const long = Buffer.from(text);
  long.writeUInt32BE(0x7fffffff, 0);
  long.writeUInt32BE(Bun.hash.crc32(long.subarray(0, 8)), 8);
  const FRAMES = "application/vnd.amazon.eventstream";
  test.each<[string, boolean, string, Buffer | string]>([
    ["a stream of another shape", true, "text/event-stream", SSE],
    [
      "a whole answer of another shape",
      false,
      "application/json",
      '{"choices":[{"message":{"content":"hi"}}]}',
    ],
    ["a whole answer where a stream should be", true, "application/json", "{}"],
    ["a stream where a whole answer should be", false, FRAMES, text],
    ["a damaged frame", true, FRAMES, flipped],
    ["a frame that lies about its length", true, FRAMES, long],
    ["half a frame", true, FRAMES, text.subarray(0, 20)],
    ["nothing", true, FRAMES, ""],
  ])("%s", async (_, stream, type, body) => {
    odd.answer = { status: 200, type, body };
    let id = "";
    const cost = await spent(async () => {
      const reply = await gateway.chat<ErrorJson>(customer, { ...hello("odd-both-1"), stream });
      expect([reply.status, reply.json.error.code]).toEqual([502, "provider_error"]);
      id = reply.json.error.request_id;
    });
    expect(cost).toBe(nanoUsd(0n));
    expect(odd.got).toHaveLength(1);
    expect(invoiced(id)).toEqual([]); // what it ran is unknown: no other provider is asked
    expect((await gateway.request(id)).attempts).toMatchObject([
      { provider: "odd", outcome: "unknown", errorClass: "broken" },
    ]);
  });
});

describe("what proves that nothing ran goes to the next route", () => {
  const JSON_TYPE = "application/json";
  const FRAMES = "application/vnd.amazon.eventstream";
  const throttled = '{"message":"Too many tokens, please wait before trying again."}';
  const slow = exceptionFrame("throttlingException", { message: "slow" });
  const late = Buffer.concat([
    eventFrame("messageStart", { role: "assistant" }),
    exceptionFrame("serviceUnavailableException", { message: "away" }),
  ]);
  test.each<[string, string, (typeof odd)["answer"]]>([
    ["a refusal by status", "rate_limited", { status: 429, type: JSON_TYPE, body: throttled }],
    ["no room", "unavailable", { status: 503, type: JSON_TYPE, body: '{"message":"not ready"}' }],
    ["an exception before the first part", "rate_limited", { status: 200, type: FRAMES, body: slow }],
    ["one behind the start", "unavailable", { status: 200, type: FRAMES, body: late }],
  ])("%s", async (_, errorClass, answer) => {
    odd.answer = answer;
    const { receipt } = await say({ ...hello("odd-both-1"), max_tokens: 64 }, true);
    expect(receipt.provider).toBe("aws");
    const { attempts } = await gateway.request(receipt.request_id);
    expect(attempts).toMatchObject([
      { provider: "odd", outcome: "not_executed", errorClass },
      { provider: "aws", outcome: "answered" },
    ]);
    expect(invoiced(receipt.request_id)).toEqual([[receipt.cost.input_tokens, receipt.cost.output_tokens]]);
  });
});

test("an exception after the first part: what was delivered is charged, no other provider is asked", async () => {
  odd.answer = {
    status: 200,
    type: "application/vnd.amazon.eventstream",
    body: Buffer.concat([
      eventFrame("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "river river river" } }),
      exceptionFrame("modelStreamErrorException", { message: "the model failed" }),
    ]),
  };
  const { events, text } = await gateway.stream(customer, hello("odd-both-1"));
  expect([events.done, text.includes('"code":"provider_error"')]).toEqual([false, true]);
  const spoken = events.chunks.filter(({ error }) => error === undefined);
  expect(textOf({ ...events, chunks: spoken })).toBe("river river river");
  const record = await gateway.request(gatewayOf(events).request_id);
  expect(record).toMatchObject({ state: "settled", usage: { completionTokens: 3 } });
  expect(record.attempts).toMatchObject([{ provider: "odd", outcome: "unknown" }]);
});

test("a call is signed over exactly what is sent, and its model is in the path", async () => {
  odd.answer = {
    status: 200,
    type: "application/json",
    body: '{"output":{"message":{"content":[{"text":"ok"}]}},"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":1}}',
  };
  await say({ ...hello("odd-1"), max_tokens: 64 }, false);
  const [{ url, headers, body } = { url: "", headers: {} as IncomingHttpHeaders, body: "" }] = odd.got;
  expect(url).toBe("/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse");
  const date = String(headers["x-amz-date"]);
  const at = Date.parse(date.replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/, "$1-$2-$3T$4:$5:$6Z"));
  const sign = awsSigner(
    { accessKeyId: KEY.access_key_id, secretAccessKey: KEY.secret_access_key, sessionToken: null },
    { region: KEY.region, service: "bedrock" },
  );
  const outgoing = {
    url: `http://${headers.host}${url}`,
    method: "POST",
    body,
    headers: { "content-type": String(headers["content-type"]) },
  } as const;
  expect(sign(outgoing, at)["authorization"]).toBe(String(headers.authorization));
  expect(JSON.parse(body)).toMatchObject({ inferenceConfig: { maxTokens: 64 } });
  expect(JSON.stringify(headers)).not.toContain(KEY.secret_access_key);
});

test("a refused key is our account's problem: its routes close, and the next provider serves", async () => {
  const message = "The key ASIAEXAMPLE1234567 is not valid in this region.";
  odd.answer = { status: 403, type: "application/json", body: JSON.stringify({ message }) };
  const { receipt } = await say({ ...hello("odd-both-1"), max_tokens: 64 }, true);
  expect(receipt.provider).toBe("aws");
  expect((await gateway.request(receipt.request_id)).attempts[0]).toMatchObject({
    errorClass: "account",
    upstreamId: "r-1",
    words: message.replace(/ASIA\w+/, "[key]"),
  });
  expect((await say({ ...hello("odd-both-1"), max_tokens: 64 }, true)).receipt.provider).toBe("aws");
  expect(odd.got).toHaveLength(1);
});
