// A real gateway in front of Amazon Bedrock, for the tests of its conversations and of its faults.
import { afterAll, beforeAll, beforeEach, expect } from "bun:test";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { nanoUsd, type NanoUsd, subUsd } from "../../src/domain/money.ts";
import { bedrock } from "../../src/providers/bedrock/kind.ts";
import { awsRole } from "../../src/providers/credentials/aws-role.ts";
import { type Events, type GatewayJson, gatewayOf } from "../support/events.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { onProvider, PREVIEW_V1, type TestManifest } from "../support/models.ts";

const CLAUDE: TestManifest = {
  ...PREVIEW_V1,
  requires_paid: false,
  upstream_model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
};
const ALONE = onProvider({ ...CLAUDE, model: "claude-1" }, "aws");
const KEPT = onProvider(
  {
    ...CLAUDE,
    model: "kept-1",
    pricing: { ...PREVIEW_V1.pricing, cache_write_per_million: "2.5", cache_write_1h_per_million: "4" },
  },
  "aws",
);
const ROLED = onProvider({ ...CLAUDE, model: "roled-1" }, "roled");
const ODD = onProvider({ ...CLAUDE, model: "odd-1" }, "odd");
const FIRST = onProvider({ ...CLAUDE, model: "both-1", upstream_model: "sim-base-1" }, "simulator", {
  priority: 0,
});
const SECOND = onProvider({ ...CLAUDE, model: "both-1" }, "aws", { priority: 1 });
const ODD_FIRST = onProvider({ ...CLAUDE, model: "odd-both-1" }, "odd", { priority: 0 });
const ODD_SECOND = onProvider({ ...CLAUDE, model: "odd-both-1" }, "aws", { priority: 1 });

export const KEY = {
  access_key_id: "AKIDEXAMPLE1234567",
  secret_access_key: "secret-of-aws",
  region: "eu-central-1",
};

/** An upstream that answers as a test says, and the requests it received. */
export const odd = {
  answer: {
    status: 200,
    type: "application/vnd.amazon.eventstream",
    body: Buffer.alloc(0) as Buffer | string,
  },
  got: [] as { url: string; headers: IncomingHttpHeaders; body: string }[],
};
/** Where the role of `roled` gets its keys: how it answers, and how often it was called. */
export const container = { status: 200, asked: 0 };
const temporary = (): string =>
  JSON.stringify({
    AccessKeyId: "ASIAEXAMPLE123456789",
    SecretAccessKey: "secret-of-role",
    Token: "session-token",
    Expiration: new Date(Date.now() + 3_600_000).toISOString(),
  });
let server: Server;
export let gateway: TestGateway;
export let customer: Customer;

async function open(): Promise<void> {
  server = createServer((request, response) => {
    if (request.url === "/role") {
      container.asked += 1;
      response.writeHead(container.status, { "content-type": "application/json" });
      response.end(container.status === 200 ? temporary() : '{"code":"NotNow"}');
      return;
    }
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
    models: [ALONE, KEPT, ROLED, ODD, FIRST, SECOND, ODD_FIRST, ODD_SECOND],
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
        {
          ...usual,
          name: "roled",
          kind: bedrock,
          baseUrl: `${simulator}/bedrock`,
          own: {
            region: "us-east-1",
            role: awsRole.parse({ from: "container", uri: `http://127.0.0.1:${port}/role` }),
          },
          health,
        },
        { ...usual, name: "odd", kind: bedrock, baseUrl: `http://127.0.0.1:${port}`, own: KEY, health },
      );
    },
  });
  customer = await gateway.customer({ usd: "1000" });
}
async function close(): Promise<void> {
  await gateway.assertSound();
  await gateway.stop();
  server.close();
  server.closeAllConnections();
}

/** One gateway for a test file, with Bedrock twice: the simulator, and an upstream that answers as a test says. */
export function withBedrock(): void {
  beforeAll(open);
  beforeEach(() => {
    gateway.simulator.behaveWell();
    odd.got = [];
  });
  afterAll(close);
}

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

/** The message that a client assembles from a stream. */
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

export async function say(body: object, stream: boolean): Promise<Turn> {
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

export const tools = ["weather", "clock"].map((name) => ({
  type: "function",
  function: {
    name,
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
}));

/** What the simulator would invoice for a request, all calls of it. */
export const invoiced = (id: string): [number, number][] =>
  gateway.simulator
    .bill()
    .filter(({ request_id, billed }) => request_id === id && billed)
    .map(({ prompt_tokens, completion_tokens }) => [prompt_tokens, completion_tokens]);

export async function spent(action: () => Promise<unknown>): Promise<NanoUsd> {
  const before = await gateway.balance(customer);
  await action();
  const after = await gateway.balance(customer);
  expect(after.held).toBe(nanoUsd(0n));
  return subUsd(before.available, after.available);
}
