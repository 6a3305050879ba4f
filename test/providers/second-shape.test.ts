// The provider interface: a second wire shape is its folder and one line of registration, and nothing between the
// surface and the ledger knows of it (docs/decisions/0031-one-line-per-provider.md).
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Config, ConfigError, loadConfig } from "../../src/config/config.ts";
import { shownSettings } from "../../src/config/shown-settings.ts";
import { nanoUsd, type NanoUsd, subUsd } from "../../src/domain/money.ts";
import { PROVIDER_KINDS } from "../../src/providers/kinds.ts";
import { type ErrorJson, type GatewayJson, gatewayOf, textOf } from "../support/events.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { onProvider, PLAIN } from "../support/models.ts";
import { telegraph } from "./telegraph/kind.ts";
import { HEARD, openOffice, PASS, SEAL, SPARED, type TelegraphOffice, WORDS } from "./telegraph/upstream.ts";

const KINDS = [...PROVIDER_KINDS, telegraph]; // the one line

const ALONE = onProvider({ ...PLAIN, model: "wired-1", upstream_model: "deep" }, "wire");
const FIRST = onProvider({ ...PLAIN, model: "both-1", upstream_model: "deep" }, "wire", { priority: 0 });
const SECOND = onProvider({ ...PLAIN, model: "both-1" }, "simulator", { priority: 1 });

const directory = mkdtempSync(join(tmpdir(), "tollgate-seam-"));
let office: TelegraphOffice;
let gateway: TestGateway;
let customer: Customer;

/** The configuration as an operator would write it. */
function configured(own: string): Config {
  const file = join(directory, "tollgate.yaml");
  writeFileSync(
    file,
    `providers:\n  - { name: wire, kind: telegraph, base_url: "${office.url}", ${own}, health: { probe: null, open_after_failures: 1000 } }\n`,
  );
  return loadConfig({ env: {}, cwd: directory, flags: { config: file }, kinds: KINDS });
}

beforeAll(async () => {
  office = await openOffice();
  // The configuration also has the demo's simulator; the test's gateway has its own.
  const providers = configured(`office: ours, seal: ${SEAL}`).providers.filter(({ name }) => name === "wire");
  gateway = await startGateway({
    models: [ALONE, FIRST, SECOND],
    configure: (config) => void config.providers.push(...providers),
  });
  customer = await gateway.customer();
});
beforeEach(() => {
  office.mood = "well";
});
afterAll(async () => {
  await gateway.assertSound();
  await gateway.stop();
  await office[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

interface CompletionJson {
  choices: { message: { content: string }; finish_reason: string }[];
  usage: { prompt_tokens: number; completion_tokens: number };
  gateway: GatewayJson;
}

/** Two dollars per million, a tenth of it for cached tokens. */
const PRICE = nanoUsd(BigInt((HEARD - SPARED) * 2000 + SPARED * 200 + WORDS.length * 2000));

/** What an action cost the organization, with nothing left held. */
async function spent(action: () => Promise<void>): Promise<NanoUsd> {
  const before = await gateway.balance(customer);
  await action();
  const after = await gateway.balance(customer);
  expect(after.held).toBe(nanoUsd(0n));
  return subUsd(before.available, after.available);
}

/** What both providers would invoice for one request: tokens, calls. */
function invoiced(requestId: string): { wire: [number, number][]; simulator: (readonly [number, number])[] } {
  const ofRequest = <T extends { heard: number; spoken: number }>({ heard, spoken }: T): [number, number] => [
    heard,
    spoken,
  ];
  return {
    wire: office.bill.filter((telegram) => telegram.requestId === requestId).map(ofRequest),
    simulator: gateway.simulator
      .bill()
      .filter(({ request_id }) => request_id === requestId)
      .map((call) => [call.prompt_tokens, call.completion_tokens] as const),
  };
}

test("a whole answer: its path, its proof over the exact bytes, its words; and the bills agree", async () => {
  let id = "";
  const cost = await spent(async () => {
    const { status, headers, json } = await gateway.chat<CompletionJson>(customer, {
      ...hello("wired-1"),
      top_p: 0.5,
      seed: 4,
      max_tokens: 100,
    });
    expect([status, headers.get("x-gw-ignored-parameters")]).toEqual([200, "seed"]);
    expect(json.choices[0]).toMatchObject({ message: { content: WORDS.join("") }, finish_reason: "stop" });
    expect(json.usage).toMatchObject({ prompt_tokens: HEARD, completion_tokens: WORDS.length });
    expect(json.gateway).toMatchObject({ provider: "wire", cost: { evidence: "provider_usage" } });
    id = json.gateway.request_id;
  });
  expect(cost).toBe(PRICE);
  const record = await gateway.request(id);
  expect(record).toMatchObject({ state: "settled", charge: PRICE, usage: { cachedTokens: SPARED } });
  expect(record.attempts).toMatchObject([{ provider: "wire", outcome: "answered", upstreamId: "T-1" }]);
  expect(invoiced(id)).toEqual({ wire: [[HEARD, WORDS.length]], simulator: [] });
  expect(office.bill.at(-1)).toMatchObject({
    path: "/wire/voices/deep/whole",
    body: { lines: [{ who: "user", words: "Say hello" }], top_p: 0.5, most: 100 },
  });
  expect(office.bill.at(-1)?.body).not.toHaveProperty("seed");
  expect(office.passes).toBe(1);
});

test("a stream of binary frames, with usage in the first and the last", async () => {
  let id = "";
  const cost = await spent(async () => {
    const { status, events } = await gateway.stream(customer, hello("wired-1"));
    expect([status, events.done, textOf(events)]).toEqual([200, true, WORDS.join("")]);
    id = gatewayOf(events).request_id;
  });
  expect(cost).toBe(PRICE);
  expect(await gateway.request(id)).toMatchObject({
    charge: PRICE,
    evidence: "provider_usage",
    stream: true,
  });
  expect(invoiced(id)).toEqual({ wire: [[HEARD, WORDS.length]], simulator: [] });
  expect(office.passes).toBe(1); // the pass is still valid
});

for (const [mood, stream, errorClass] of [
  ["shut", false, "unavailable"],
  ["shut", true, "unavailable"],
  ["too eager", true, "rate_limited"],
  ["too eager in the stream", true, "rate_limited"],
] as const)
  test(`${mood}, ${stream ? "streamed" : "whole"}: proven not to have run, so the simulator answers`, async () => {
    office.mood = mood;
    let receipt: GatewayJson | null = null;
    const cost = await spent(async () => {
      receipt = stream
        ? gatewayOf((await gateway.stream(customer, hello("both-1"))).events)
        : (await gateway.chat<CompletionJson>(customer, hello("both-1"))).json.gateway;
    });
    const { request_id: id, provider, cost: said } = receipt as unknown as GatewayJson;
    expect(provider).toBe("simulator");
    const record = await gateway.request(id);
    expect(record.attempts).toMatchObject([
      { provider: "wire", outcome: "not_executed", errorClass },
      { provider: "simulator", outcome: "answered" },
    ]);
    expect([record.charge, said.customer_charge_usd]).toEqual([cost, Number(cost) / 1e9]);
    expect(invoiced(id)).toEqual({ wire: [[0, 0]], simulator: [[said.input_tokens, said.output_tokens]] });
  });

test("a rate limit in its own words is reported as one, with its time, and costs nothing", async () => {
  office.mood = "too eager";
  let id = "";
  const cost = await spent(async () => {
    const reply = await gateway.chat<ErrorJson>(customer, hello("wired-1"));
    expect([reply.status, reply.json.error.code]).toEqual([502, "provider_error"]);
    expect([reply.headers.get("x-should-retry"), reply.headers.get("retry-after")]).toEqual(["true", "7"]);
    expect(reply.text).not.toContain("eager");
    id = reply.json.error.request_id;
  });
  expect(cost).toBe(nanoUsd(0n));
  const { state, attempts } = await gateway.request(id);
  expect(state).toBe("released");
  expect(attempts).toMatchObject([{ errorClass: "rate_limited", upstreamStatus: 420, upstreamId: "T-0" }]);
  expect(attempts[0]?.words).toBe("too_eager: pass [key] is too eager"); // the proof of the call is in no record
  expect(JSON.stringify(attempts)).not.toContain(PASS);
});

test.each(["cut", "odd frame"] as const)(
  "a stream that ends in a %s is charged by what was delivered",
  async (mood) => {
    office.mood = mood;
    let id = "";
    const cost = await spent(async () => {
      const { events, text } = await gateway.stream(customer, hello("both-1"));
      const spoken = events.chunks.filter(({ error }) => error === undefined);
      expect(textOf({ ...events, chunks: spoken })).toBe(WORDS.slice(0, 20).join(""));
      expect([events.done, text.includes('"code":"provider_error"')]).toEqual([false, true]);
      id = gatewayOf(events).request_id;
    });
    const record = await gateway.request(id);
    expect(record).toMatchObject({ state: "settled", charge: cost, usage: { completionTokens: 20 } });
    expect(record.attempts).toMatchObject([{ provider: "wire", outcome: "unknown", errorClass: "broken" }]);
    expect(invoiced(id)).toEqual({ wire: [[HEARD, 20]], simulator: [] });
  },
);

test("an unavailable pass proves that nothing was sent", async () => {
  office.mood = "gate shut";
  const fresh = configured(`office: ours, seal: ${SEAL}`).providers;
  const other = await startGateway({
    models: [FIRST, SECOND],
    configure: (config) => void config.providers.push(...fresh),
  });
  try {
    const buyer = await other.customer();
    const calls = office.bill.length;
    const { json } = await other.chat<CompletionJson>(buyer, hello("both-1"));
    expect(json.gateway.provider).toBe("simulator");
    expect((await other.request(json.gateway.request_id)).attempts[0]).toMatchObject({
      outcome: "not_executed",
      errorClass: "account",
    });
    expect(office.bill.length).toBe(calls);
    await other.assertSound();
  } finally {
    await other.stop();
  }
});

test("its limits apply to the request: a temperature above its own maximum is refused before anything is held", async () => {
  const reply = await gateway.chat<ErrorJson>(customer, { ...hello("wired-1"), temperature: 1.5 });
  expect([reply.status, reply.json.error.code]).toEqual([400, "decimal_above_max_value"]);
});

test("its settings are checked like all others, and only those that are not secret are shown", () => {
  expect(() => configured("office: ours")).toThrow(ConfigError);
  expect(() => configured(`office: ours, seal: ${SEAL}, api_key: k`)).toThrow("there is no such setting");
  const shown = JSON.stringify(shownSettings(configured(`office: ours, seal: ${SEAL}`)));
  expect(shown).toContain('"kind":"telegraph","office":"ours"');
  expect(shown).not.toContain(SEAL);
});
