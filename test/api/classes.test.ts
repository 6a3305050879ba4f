// Classes of tokens from a provider's reply to the bill: what the body reports, what the ledger stores, what the
// receipt proves and what the audit recomputes (providers.md §4).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ReceiptJson } from "../../src/domain/receipt.ts";
import type { CostLine } from "../../src/pricing/cost-lines.ts";
import type { Behaviour } from "../../src/providers/simulator/behaviour.ts";
import { firstOperator } from "../support/browser.ts";
import { gatewayOf, type GatewayJson } from "../support/events.ts";
import { type Customer, startGateway, type TestGateway } from "../support/gateway.ts";
import { PLAIN, type TestManifest } from "../support/models.ts";
import { type Ran, runToEnd, PROGRAM } from "../support/program.ts";

const RATES = {
  input_per_million: "5",
  cached_input_per_million: "0.5",
  cache_write_per_million: "6.25",
  output_per_million: "30",
};
const CLASSED: TestManifest = {
  ...PLAIN,
  model: "classed-1",
  upstream_model: "sim-classed-1",
  pricing: {
    currency: "USD",
    ...RATES,
    audio_output_per_million: "60",
    request_minimum: "0",
    per_call: "10",
    calls_max: 2,
    tiers: [
      {
        above_prompt_tokens: 1000,
        input_per_million: "10",
        cached_input_per_million: "1",
        cache_write_per_million: "12.5",
        output_per_million: "45",
        audio_output_per_million: "90",
      },
    ],
    service_tiers: { flex: "0.5", priority: "2" },
  },
};

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway({ models: [PLAIN, CLASSED] });
  customer = await gateway.customer();
});
afterAll(async () => {
  expect((await gateway.ledger.verify()).violations).toEqual([]);
  await gateway.stop();
});

interface Body {
  usage: Record<string, unknown>;
  gateway: GatewayJson;
}

const ask = (model = "classed-1") => ({
  model,
  messages: [{ role: "user", content: "Hello" }],
  max_tokens: 100,
});

/** What the simulator reports; its prompt is longer than what was sent, within the bound of its bytes. */
async function told(behaviour: Behaviour, body: object = ask()): Promise<Body> {
  gateway.simulator.behave({ behaviour, calls: 1 });
  const reply = await gateway.chat<Body>(customer, body as ReturnType<typeof ask>);
  expect(reply.status).toBe(200);
  return reply.json;
}

/** Verified by the command line, with only the gateway's published key. */
async function verify(receipt: string): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-classes-"));
  const file = join(folder, "receipt.json");
  writeFileSync(file, receipt);
  const jwks = `${gateway.url}/.well-known/jwks.json`;
  const ran = await runToEnd(PROGRAM, ["receipt", "verify", file, "--jwks", jwks], {
    env: { PATH: process.env["PATH"] ?? "" },
  });
  rmSync(folder, { recursive: true });
  return ran;
}

const classesOf = (lines: readonly CostLine[]): unknown[] =>
  lines.map((line) => [line.class, line.tokens ?? line.calls, line.usd_per_million ?? line.usd_per_thousand]);

test("cache reads and writes, audio and searches are reported, stored and charged, each at its own rate", async () => {
  const { usage, gateway: record } = await told({
    usage: { prompt_tokens: 60, completion_tokens: 20 },
    classes: { cached: 10, cache_write: 40, audio_output: 5, searches: 2 },
  });
  expect(usage).toMatchObject({
    prompt_tokens: 60,
    prompt_tokens_details: { cached_tokens: 10, cache_write_tokens: 40 },
    completion_tokens_details: { audio_tokens: 5 },
  });
  const { cost } = record;
  expect(classesOf(cost.lines)).toEqual([
    ["input", 10, "5"],
    ["cached_input", 10, "0.5"],
    ["cache_write", 40, "6.25"],
    ["output", 15, "30"],
    ["audio_output", 5, "60"],
    ["calls", 2, "10"],
  ]);
  const dollars = cost.lines.map(({ amount_usd }) => Number(amount_usd));
  expect(dollars.reduce((a, b) => a + b)).toBeCloseTo(cost.customer_charge_usd, 12);
  expect(cost.customer_charge_usd).toBe(0.021055);
  const kept = await gateway.request(record.request_id);
  expect(kept).toMatchObject({
    charge: 21_055_000n,
    variance: 0n,
    usage: { cachedTokens: 10, cacheWriteTokens: 40, audioOutputTokens: 5, calls: 2 },
  });
  const { json } = await gateway.get<{ receipt: ReceiptJson }>(customer, `/v1/receipts/${record.request_id}`);
  expect(json.receipt.usage).toMatchObject({ cache_write_tokens: 40, audio_output_tokens: 5, calls: 2 });
  expect(json.receipt.gateway as unknown).toEqual(record);
  const verified = await verify(JSON.stringify(json));
  expect(verified).toMatchObject({ code: 0 });
  expect(verified.out).toContain("40 written to a cache, 5 audio output, 2 paid calls");
});

test("the service tier named by the reply is a factor on every token; a tier that the release does not publish has no effect", async () => {
  const behaviour = { usage: { prompt_tokens: 60, completion_tokens: 20 } };
  const charges = [];
  for (const service_tier of ["flex", "default", "priority"])
    charges.push((await told({ ...behaviour, service_tier })).gateway.cost.customer_charge_usd);
  expect(charges).toEqual([0.00045, 0.0009, 0.0018]);
});

test("a stream reports and charges the same", async () => {
  gateway.simulator.behave({
    behaviour: {
      usage: { prompt_tokens: 60, completion_tokens: 20 },
      classes: { cache_write: 40 },
      service_tier: "flex",
    },
    calls: 1,
  });
  const { events } = await gateway.stream(customer, {
    ...ask(),
    stream_options: { include_usage: true },
  });
  const usage = events.chunks.findLast((chunk) => chunk.usage)?.usage;
  expect(usage).toMatchObject({ prompt_tokens_details: { cache_write_tokens: 40 } });
  expect(classesOf(gatewayOf(events).cost.lines)).toEqual([
    ["input", 20, "2.5"],
    ["cache_write", 40, "3.125"],
    ["output", 20, "15"],
  ]);
});

test("a prompt above the step costs the tier's rates throughout", async () => {
  const long = { ...ask(), messages: [{ role: "user", content: "word ".repeat(1200) }] };
  const { gateway: record } = await told(
    { usage: { prompt_tokens: 1200, completion_tokens: 10 }, classes: { cached: 1000 } },
    long,
  );
  expect(classesOf(record.cost.lines)).toEqual([
    ["input", 200, "10"],
    ["cached_input", 1000, "1"],
    ["output", 10, "45"],
  ]);
});

test("searches beyond those that the hold covers are paid by the platform, with a notice; so are any of a release that sells none", async () => {
  const usage = { prompt_tokens: 60, completion_tokens: 20 };
  const many = await told({ usage, classes: { searches: 7 } });
  expect(classesOf(many.gateway.cost.lines).at(-1)).toEqual(["calls", 2, "10"]);
  const kept = await gateway.request(many.gateway.request_id);
  expect(kept?.variance).toBe(50_000_000n as never);
  expect(kept?.attempts.at(-1)).toMatchObject({ doubts: ["usage_clamped"], told: { calls: 7 } });
  const none = await told({ usage, classes: { searches: 1 } }, ask("plain-1"));
  expect(none.gateway.cost.lines.map((line) => line.class)).not.toContain("calls");
  const plain = await gateway.request(none.gateway.request_id);
  expect(plain?.usage?.calls ?? 0).toBe(0);
  expect(plain?.attempts.at(-1)?.doubts).toEqual(["usage_clamped"]);
});

test("classes that overlap are priced once, and the lines still add up", async () => {
  const { gateway: record } = await told({
    usage: { prompt_tokens: 60, completion_tokens: 20 },
    classes: { cached: 50, cache_write: 50, audio_input: 50, image_input: 50, audio_output: 90 },
  });
  expect(classesOf(record.cost.lines)).toEqual([
    ["cached_input", 50, "0.5"],
    ["cache_write", 10, "6.25"],
    ["audio_output", 20, "60"],
  ]);
});

test("the list of models publishes every class as the release does", async () => {
  const { json } = await gateway.get<{ pricing: object }>(customer, "/v1/models/classed-1");
  const { pricing } = CLASSED;
  expect(json.pricing).toEqual({
    ...pricing,
    prompt: "0.000005",
    completion: "0.00003",
    input_cache_read: "0.0000005",
    input_cache_write: "0.00000625",
  });
});

test("usage by the hour counts cache writes; a price without classes charges the same as before", async () => {
  const alone = await gateway.customer();
  gateway.simulator.behave({
    behaviour: {
      usage: { prompt_tokens: 60, completion_tokens: 20 },
      classes: { cached: 10, cache_write: 40 },
      service_tier: "priority",
    },
    calls: 1,
  });
  const { json } = await gateway.chat<Body>(alone, ask("plain-1"));
  // 50 at 2, 10 at 0.2, 20 at 2 dollars per million, and the minimum above it.
  expect(json.gateway.cost.lines).toEqual([
    { class: "input", tokens: 10, usd_per_million: "2", amount_usd: "0.00002" },
    { class: "cached_input", tokens: 10, usd_per_million: "0.2", amount_usd: "0.000002" },
    { class: "cache_write", tokens: 40, usd_per_million: "2", amount_usd: "0.00008" },
    { class: "output", tokens: 20, usd_per_million: "2", amount_usd: "0.00004" },
  ]);
  expect(json.gateway.cost.customer_charge_usd).toBe(0.000142);
  const usage = await fetch(`${gateway.url}/admin/v1/usage?org=${alone.organizationId}`, {
    headers: { authorization: `Bearer ${gateway.token}` },
  });
  expect(await usage.json()).toMatchObject({
    data: [{ input_tokens: 60, cached_tokens: 10, cache_write_tokens: 40, output_tokens: 20 }],
  });
  const activity = await (await firstOperator(gateway)).send(
    "GET",
    `/app/v1/orgs/${alone.organizationId}/activity.csv`,
  );
  const [head = "", line = ""] = activity.text.split("\r\n");
  const figures = new Map(head.split(",").map((name, at) => [name, line.split(",")[at]]));
  expect(
    ["input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens"].map((name) => figures.get(name)),
  ).toEqual(["60", "10", "40", "20"]);
});
