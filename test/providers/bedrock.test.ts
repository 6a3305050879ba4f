// Amazon Bedrock behind a real gateway: conversations with tools and thinking through Converse, over changes of route, faults
// of its streams, and a bill that is the ledger's.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { nanoUsd, type NanoUsd, subUsd } from "../../src/domain/money.ts";
import { bedrock } from "../../src/providers/bedrock/kind.ts";
import { awsSigner } from "../../src/providers/credentials/aws-sigv4.ts";
import { eventFrame, exceptionFrame } from "../../src/providers/simulator/bedrock/frame.ts";
import { type ErrorJson, type Events, type GatewayJson, gatewayOf, textOf } from "../support/events.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { onProvider, PREVIEW_V1, type TestManifest } from "../support/models.ts";

const CLAUDE: TestManifest = {
  ...PREVIEW_V1,
  requires_paid: false,
  upstream_model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
};
const ALONE = onProvider({ ...CLAUDE, model: "claude-1" }, "aws");
const ODD = onProvider({ ...CLAUDE, model: "odd-1" }, "odd");
const FIRST = onProvider({ ...CLAUDE, model: "both-1", upstream_model: "sim-base-1" }, "simulator", {
  priority: 0,
});
const SECOND = onProvider({ ...CLAUDE, model: "both-1" }, "aws", { priority: 1 });
const ODD_FIRST = onProvider({ ...CLAUDE, model: "odd-both-1" }, "odd", { priority: 0 });
const ODD_SECOND = onProvider({ ...CLAUDE, model: "odd-both-1" }, "aws", { priority: 1 });

const KEY = {
  access_key_id: "AKIDEXAMPLE1234567",
  secret_access_key: "secret-of-aws",
  region: "eu-central-1",
};

/** An upstream that answers as a test says, and what it was asked. */
const odd = {
  answer: {
    status: 200,
    type: "application/vnd.amazon.eventstream",
    body: Buffer.alloc(0) as Buffer | string,
  },
  got: [] as { url: string; headers: IncomingHttpHeaders; body: string }[],
};
let server: Server;
let gateway: TestGateway;
let customer: Customer;

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      odd.got.push({
        url: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      });
      response.writeHead(odd.answer.status, { "content-type": odd.answer.type, "x-amzn-requestid": "r-1" });
      response.end(odd.answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const port = (server.address() as AddressInfo).port;
  gateway = await startGateway({
    models: [ALONE, ODD, FIRST, SECOND, ODD_FIRST, ODD_SECOND],
    configure(config) {
      const [usual] = config.providers;
      if (usual === undefined) throw new Error("no provider");
      const simulator = usual.baseUrl?.replace("/v1", "") ?? "";
      const health = { ...usual.health, openAfterFailures: 1000 };
      usual.health = health;
      config.providers.push(
        {
          ...usual,
          name: "aws",
          kind: bedrock,
          baseUrl: `${simulator}/bedrock`,
          own: { region: "us-east-1", api_key: "k-1" },
          health,
        },
        { ...usual, name: "odd", kind: bedrock, baseUrl: `http://127.0.0.1:${port}`, own: KEY, health },
      );
    },
  });
  customer = await gateway.customer({ usd: "1000" });
});
beforeEach(() => {
  gateway.simulator.behaveWell();
  odd.got = [];
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
  server.close();
  server.closeAllConnections();
});

interface Said {
  role: "assistant";
  content: string | null;
  reasoning_content?: string;
  tool_calls?: {
    id: string;
    type: "function";
    function: { name: string; arguments: string };
    extra_content?: object;
  }[];
}
interface Whole {
  choices: { message: Said; finish_reason: string }[];
  gateway: GatewayJson;
}
interface Turn {
  message: Said;
  finish: string;
  receipt: GatewayJson;
}

/** The message that a client puts together from a stream. */
function messageOf({ chunks }: Events): { message: Said; finish: string } {
  const message: Said = { role: "assistant", content: null };
  let finish = "";
  for (const { choices = [] } of chunks as unknown as {
    choices?: { delta: Record<string, never>; finish_reason: string | null }[];
  }[])
    for (const { delta, finish_reason } of choices) {
      finish = finish_reason ?? finish;
      const {
        content,
        reasoning_content: thought,
        tool_calls: calls,
      } = delta as {
        content?: string | null;
        reasoning_content?: string;
        tool_calls?: {
          index: number;
          id?: string;
          function: { name?: string; arguments?: string };
          extra_content?: object;
        }[];
      };
      if (typeof content === "string" && content !== "") message.content = (message.content ?? "") + content;
      if (thought !== undefined) message.reasoning_content = (message.reasoning_content ?? "") + thought;
      for (const { index, id, function: called, extra_content: extra } of calls ?? []) {
        message.tool_calls ??= [];
        message.tool_calls[index] ??= {
          id: id ?? "",
          type: "function",
          function: { name: called.name ?? "", arguments: "" },
          ...(extra && { extra_content: extra }),
        };
        message.tool_calls[index].function.arguments += called.arguments ?? "";
      }
    }
  return { message, finish };
}

async function say(body: object, stream: boolean): Promise<Turn> {
  if (stream) {
    const { events, status, text } = await gateway.stream(customer, body);
    if (status !== 200) throw new Error(text);
    return { ...messageOf(events), receipt: gatewayOf(events) };
  }
  const { json, status, text } = await gateway.chat<Whole>(customer, body);
  const [choice] = json.choices ?? [];
  if (status !== 200 || choice === undefined) throw new Error(text);
  return { message: choice.message, finish: choice.finish_reason, receipt: json.gateway };
}

const tools = ["weather", "clock"].map((name) => ({
  type: "function",
  function: {
    name,
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
}));

/** What the simulator would invoice of a request, all calls of it. */
const invoiced = (id: string): [number, number][] =>
  gateway.simulator
    .bill()
    .filter(({ request_id, billed }) => request_id === id && billed)
    .map(({ prompt_tokens, completion_tokens }) => [prompt_tokens, completion_tokens]);

async function spent(action: () => Promise<unknown>): Promise<NanoUsd> {
  const before = await gateway.balance(customer);
  await action();
  const after = await gateway.balance(customer);
  expect(after.held).toBe(nanoUsd(0n));
  return subUsd(before.available, after.available);
}

for (const stream of [false, true])
  test(`twenty turns with tools and thinking, ${stream ? "streamed" : "whole"}: no turn is refused, signatures come back, and the bill is the ledger's`, async () => {
    const messages: object[] = [{ role: "system", content: "Be brief." }];
    let signatures = 0;
    const cost = await spent(async () => {
      let sum = 0n;
      for (let turn = 0; turn < 20; turn += 1) {
        messages.push({ role: "user", content: `Turn ${turn}: what say weather and clock?` });
        const asked = await say(
          { model: "claude-1", messages, tools, max_tokens: 4096, reasoning_effort: "medium" },
          stream,
        );
        expect(asked.finish).toBe("tool_calls");
        expect(asked.message.reasoning_content).not.toBe("");
        const calls = asked.message.tool_calls ?? [];
        expect(calls.map((call) => call.function.name)).toEqual(["weather", "clock"]);
        if (JSON.stringify(calls[0]?.extra_content).includes('"signature"')) signatures += 1;
        messages.push(asked.message);
        for (const { id } of calls) messages.push({ role: "tool", tool_call_id: id, content: "rain" });
        const told = await say(
          { model: "claude-1", messages, tools, max_tokens: 4096, reasoning_effort: "medium" },
          stream,
        );
        expect([told.finish, told.message.tool_calls]).toEqual(["stop", undefined]);
        messages.push(told.message);
        for (const { receipt } of [asked, told]) {
          expect(invoiced(receipt.request_id)).toEqual([
            [receipt.cost.input_tokens, receipt.cost.output_tokens],
          ]);
          sum += (await gateway.request(receipt.request_id)).charge ?? 0n;
        }
      }
      expect(signatures).toBe(20);
      messages.push({ sum });
    });
    expect(cost).toBe((messages.at(-1) as { sum: NanoUsd }).sum);
  }, 120_000);

test("a conversation goes over a change of route and back: what one signed the other does not get", async () => {
  const messages: object[] = [];
  const providers: string[] = [];
  for (let turn = 0; turn < 6; turn += 1) {
    const away = Math.floor(turn / 2) % 2 === 1; // two turns on each side
    messages.push({ role: "user", content: `Turn ${turn}: what says weather?` });
    for (const role of ["asked", "told"]) {
      if (away) gateway.simulator.behave({ behaviour: { status: 503 }, model: "sim-base-1", calls: 1 });
      const stream = turn % 2 === 0;
      const said = await say(
        { model: "both-1", messages, tools, max_tokens: 4096, reasoning_effort: "medium" },
        stream,
      );
      providers.push(said.receipt.provider);
      expect(said.receipt.provider).toBe(away ? "aws" : "simulator");
      expect(said.finish).toBe(role === "asked" ? "tool_calls" : "stop");
      messages.push(said.message);
      for (const { id } of said.message.tool_calls ?? [])
        messages.push({ role: "tool", tool_call_id: id, content: "rain" });
      const { request_id: id, cost } = said.receipt;
      expect(invoiced(id)).toEqual([[cost.input_tokens, cost.output_tokens]]);
    }
  }
  expect(new Set(providers)).toEqual(new Set(["simulator", "aws"]));
});

test("a model that loses its signatures half way is answered all the same, without thinking", async () => {
  const first = await say(
    {
      model: "claude-1",
      messages: [{ role: "user", content: "what says weather?" }],
      tools,
      max_tokens: 4096,
      reasoning_effort: "medium",
    },
    false,
  );
  const [call] = first.message.tool_calls ?? [];
  for (const extra of [
    undefined,
    { bedrock: { by: "claude", reasoning: "x" } },
    { bedrock: { by: "nobody", reasoning: [] } },
  ]) {
    const messages = [
      { role: "user", content: "what says weather?" },
      { role: "assistant", content: null, tool_calls: [{ ...call, extra_content: extra }] },
      { role: "tool", tool_call_id: call?.id, content: "rain" },
    ];
    const said = await say(
      { model: "claude-1", messages, tools, max_tokens: 4096, reasoning_effort: "medium" },
      true,
    );
    expect([said.finish, said.message.reasoning_content]).toEqual(["stop", undefined]);
  }
});

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
    expect(invoiced(id)).toEqual([]); // what it ran is not known: nobody else is asked
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

test("an exception after the first part: what was delivered is charged, nobody else is asked", async () => {
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

test("a call is signed over exactly what goes out, and its model stands in the path", async () => {
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

for (const [order, behaviour] of [
  ["no usage", { no_usage: true }],
  ["usage first", { usage_first: true }],
  ["a late word", { after_done: true }],
] as const)
  test(`a stream with ${order} is charged by what the bill says`, async () => {
    gateway.simulator.behave({ behaviour });
    const { receipt, finish } = await say(
      { ...hello("claude-1"), max_tokens: 2048, reasoning_effort: "none" },
      true,
    );
    expect(finish).toBe("stop");
    expect(invoiced(receipt.request_id).map(([, output]) => output)).toEqual([receipt.cost.output_tokens]);
  });

test("no access is our account's: its routes close, and the next provider serves", async () => {
  const message = "The key ASIAEXAMPLE1234567 has no access to the model.";
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
