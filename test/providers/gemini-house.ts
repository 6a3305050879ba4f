// A gateway with Gemini behind it, served by the simulator, and helpers for its tests.
import { expect } from "bun:test";
import type { Config } from "../../src/config/config.ts";
import { nanoUsd } from "../../src/domain/money.ts";
import { google } from "../../src/providers/google/kind.ts";
import { type Events, type GatewayJson, gatewayOf } from "../support/events.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { PREVIEW_V1, type TestManifest } from "../support/models.ts";

/** Of a request, nano-USD; a token costs 2,000. */
const MINIMUM = 100_000;
export const FLASH = "gemini-3.8-flash";
const PRO = "gemini-3.1-pro";
export const OLD = "gemini-2.5-flash";
const base: TestManifest = {
  ...PREVIEW_V1,
  requires_paid: false,
  provider: "gemini",
  upstream_model: FLASH,
  reasoning: { modes: ["none", "low", "high"], default: "low" },
};
const on = (model: string, routes: Partial<TestManifest>[]): TestManifest[] =>
  routes.map((route, priority) => ({ ...base, model, priority, ...route }));
const OPENAI = { provider: "simulator", upstream_model: "sim-base-1" };
const MODELS = [
  ...on("flash", [{}]),
  ...on("untold", [{ capabilities: { ...PREVIEW_V1.capabilities, logprobs: false } }]),
  ...on("old", [{ upstream_model: OLD }]),
  ...on("both", [{}, OPENAI]),
  ...on("two", [{}, { provider: "gemini-b", upstream_model: PRO }]),
  ...on("odd", [{ provider: "odd" }]),
];

export interface House {
  gateway: TestGateway;
  customer: Customer;
}

/** `odd`: the address of a provider that answers as a test says. */
export async function startHouse(odd = "http://127.0.0.1:1"): Promise<House> {
  const gateway = await startGateway({ models: MODELS, configure: configured(odd) });
  return { gateway, customer: await gateway.customer({ usd: "100" }) };
}

/** Further providers of `kind: google`, at the simulator or elsewhere. */
const configured =
  (odd: string) =>
  (config: Config): void => {
    const [simulator] = config.providers;
    if (simulator === undefined) throw new Error("no simulator");
    const face = `${simulator.baseUrl?.replace(/\/v1$/, "")}/google/v1beta`;
    const own = { envelope: "direct", api_key: "provider-key" };
    const health = { ...simulator.health, openAfterFailures: 1000, halfOpenAfterMs: 1 };
    for (const [name, baseUrl] of Object.entries({ gemini: face, "gemini-b": face, odd }))
      config.providers.push({ ...simulator, name, kind: google, baseUrl, own, health });
  };

const tool = (name: string): object => ({
  type: "function",
  function: {
    name,
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
});
export const TOOLS = [tool("get_weather"), tool("get_time")];

export interface CallJson {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
  extra_content?: { google?: { thought_signature: string; issuer: string } };
}
export interface MessageJson {
  role: string;
  content: string | null;
  reasoning_content?: string;
  tool_calls?: CallJson[];
}
interface CompletionJson {
  choices: { message: MessageJson; finish_reason: string }[];
  gateway: GatewayJson;
}

/** The message that clients assemble from a stream's deltas. */
function messageOf(events: Events): MessageJson {
  const message: MessageJson = { role: "assistant", content: null };
  for (const { choices } of events.chunks)
    for (const { delta } of choices) {
      const { content, reasoning_content: thought, tool_calls: calls } = delta as Partial<MessageJson>;
      if (content) message.content = (message.content ?? "") + content;
      if (thought) message.reasoning_content = (message.reasoning_content ?? "") + thought;
      for (const call of (calls ?? []) as (CallJson & { index: number })[]) {
        const { index, ...begun } = call;
        message.tool_calls ??= [];
        const known = message.tool_calls[index];
        if (known === undefined) message.tool_calls[index] = structuredClone(begun);
        else known.function.arguments += call.function.arguments;
      }
    }
  return message;
}

/** One call; returns its message and receipt. */
export async function turn(
  { gateway, customer }: House,
  body: object,
  stream: boolean,
): Promise<{ message: MessageJson; receipt: GatewayJson }> {
  if (stream) {
    const { status, events, text } = await gateway.stream(customer, body);
    if (status !== 200) throw new Error(text);
    return { message: messageOf(events), receipt: gatewayOf(events) };
  }
  const { status, json, text } = await gateway.chat<CompletionJson>(customer, body);
  if (status !== 200) throw new Error(text);
  return { message: json.choices[0]?.message ?? { role: "", content: null }, receipt: json.gateway };
}

export const billed = ({ gateway }: House, requestId: string) =>
  gateway.simulator.bill().filter(({ request_id }) => request_id === requestId);

/** The charge equals the provider's invoice, and the provider refused none of the calls. */
export async function expectAgreement(
  house: House,
  { request_id: id }: GatewayJson,
  refused = 0,
): Promise<void> {
  const calls = billed(house, id);
  expect(calls.filter(({ outcome }) => outcome === "refused")).toHaveLength(refused);
  const [call] = calls.filter((one) => one.billed);
  const { prompt_tokens: promptTokens = 0, completion_tokens: completionTokens = 0 } = call ?? {};
  const record = await house.gateway.request(id);
  expect(record).toMatchObject({
    state: "settled",
    evidence: "provider_usage",
    usage: { promptTokens, completionTokens },
    charge: nanoUsd(BigInt(Math.max(MINIMUM, (promptTokens + completionTokens) * 2000))),
  });
}
