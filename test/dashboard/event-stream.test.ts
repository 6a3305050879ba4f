// The playground reads the streams that the gateway really sends, numbered ones too.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventsOf } from "../../dashboard/api/event-stream.ts";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";

let gateway: TestGateway;
let owner: Browser;
let address: string;
let key: string;

beforeAll(async () => {
  gateway = await startGateway();
  const { organizationId: org, keyId } = await gateway.customer();
  owner = await newMember(await firstOperator(gateway), gateway, {
    org,
    role: "owner",
    email: "olga@example.com",
  });
  address = `${gateway.url}/app/v1/orgs/${org}/playground`;
  key = keyId;
});
afterAll(() => gateway.stop());

const play = (headers: Record<string, string>): Promise<Response> =>
  fetch(address, {
    method: "POST",
    headers: {
      cookie: owner.cookie,
      origin: gateway.url,
      "content-type": "application/json",
      ...headers,
    },
    body: JSON.stringify({
      key,
      request: { model: "base-preview-v1", messages: [{ role: "user", content: "Say hello" }], stream: true },
    }),
  });

interface Chunk {
  choices: { delta?: { content?: string } }[];
  gateway?: { cost?: { customer_charge_usd: number } };
}

test.each([
  ["without a key", {}],
  ["with an Idempotency-Key, whose events are numbered", { "idempotency-key": "played-once" }],
])("a streamed answer %s is read to its charge", async (_, headers) => {
  const chunks: Chunk[] = [];
  for await (const data of eventsOf(await play(headers))) chunks.push(JSON.parse(data) as Chunk);
  const text = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta?.content ?? "")).join("");
  expect(text).not.toBe("");
  expect(chunks.findLast((chunk) => chunk.gateway?.cost !== undefined)?.gateway?.cost).toMatchObject({
    customer_charge_usd: expect.any(Number),
  });
});

test("everything that the format allows is read: other line ends, no blank after the colon, comments, splits anywhere", async () => {
  const stream =
    ': waiting\r\n\r\nid: 1\r\ndata:{"a":1}\r\n\r\ndata: {"b":\ndata: "\u00fc"}\n\ndata: [DONE]\n\ndata: late\n\n';
  const bytewise = new ReadableStream<Uint8Array>({
    start: (pieces) => {
      for (const byte of new TextEncoder().encode(stream)) pieces.enqueue(Uint8Array.of(byte));
      pieces.close();
    },
  });
  const read: unknown[] = [];
  for await (const data of eventsOf(new Response(bytewise))) read.push(JSON.parse(data));
  expect(read).toEqual([{ a: 1 }, { b: "ü" }]);
});

test("a reader that stops ends the call", async () => {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const endless = new ReadableStream<Uint8Array>({
    pull: (stream) => stream.enqueue(new TextEncoder().encode("data: x\n\n")),
    cancel: () => resolve(),
  });
  for await (const data of eventsOf(new Response(endless))) {
    expect(data).toBe("x");
    break;
  }
  await ended;
});
