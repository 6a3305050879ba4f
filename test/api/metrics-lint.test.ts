// The metrics follow Prometheus' rules: names, units, types, label sets, and a number of series that no caller can
// increase.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REFUSALS } from "../../src/domain/refusals.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { type Scrape, scrape } from "../support/scrape.ts";

let gateway: TestGateway;
let customer: Customer;
beforeAll(async () => {
  gateway = await startGateway();
  customer = await gateway.customer({ usd: "100" });
  await gateway.chat(customer, hello());
  await gateway.stream(customer, hello());
  await gateway.chat(customer, hello("nobody-has-this"));
});
afterAll(() => gateway.stop());

const now = (): Promise<Scrape> => scrape(gateway.url);
const ours = ({ families }: Scrape) => families.filter(({ name }) => /^(tollgate|gen_ai)_/.test(name));

test("names are letters and underscores; counters end in _total, seconds and dollars are named as such, help is a sentence", async () => {
  for (const { name, type, help } of ours(await now())) {
    expect(name).toMatch(/^[a-z][a-z_]*[a-z]$/);
    expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"]);
    expect([name, help]).toEqual([name, expect.stringMatching(/^[A-Z0-9].*\.$/)]);
    expect(name).not.toMatch(/_(count|sum|bucket|info_total|milliseconds|ms)$/);
    if (/duration|timestamp|wait$|part$|time_to/.test(name)) expect(name).toEndWith("_seconds");
  }
});

test("docs/operations.md describes each of our metrics, and none that does not exist", async () => {
  const text = readFileSync(join(import.meta.dir, "../../docs/operations.md"), "utf8");
  const told = new Set(text.match(/\btollgate_[a-z_]+\b|\bgen_ai_(?:client|server)_[a-z_]+\b/g));
  const names = ours(await now()).map(({ name }) => name);
  expect([...told].filter((name) => !NO_METRIC.has(name)).toSorted()).toEqual(names.toSorted());
});

/** A database of an example; what exists only if traces are exported. */
const NO_METRIC = new Set(["tollgate_back", "tollgate_spans_waiting"]);

test("a metric is declared once, and every sample belongs to a declared one", async () => {
  const { families, samples } = await now();
  const names = families.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { family, name } of samples) expect([name, names.includes(family)]).toEqual([name, true]);
});

test("all samples of a metric have the same labels, and no series occurs twice", async () => {
  const { families, samples } = await now();
  for (const { name } of families) {
    const own = samples.filter((sample) => sample.family === name);
    const keys = new Set(
      own.map(({ labels }) =>
        Object.keys(labels)
          .filter((key) => !MAY_BE_ABSENT.has(key))
          .toSorted()
          .join(),
      ),
    );
    const most = new Set(own.map((sample) => sample.name)).size; // a histogram's buckets have one more
    expect([name, keys.size <= most]).toEqual([name, true]);
  }
  const series = samples.map(
    ({ name, labels }) => `${name}${Object.entries(labels).map(String).toSorted().join(";")}`,
  );
  expect(series.filter((one, place) => series.indexOf(one) !== place)).toEqual([]);
});

/** An answered call has no class of failure. */
const MAY_BE_ABSENT = new Set(["error_type"]);

/** Our labels, each with a set of values that only operators or this program can extend. */
const LABELS = new Set(
  (
    "model provider route state outcome status code limit task reason version le surface " +
    "gen_ai_operation_name gen_ai_provider_name gen_ai_request_model gen_ai_token_type error_type"
  ).split(" "),
);

test("labels have closed sets of values: never a key, an organization, a request or text from a caller", async () => {
  const scraped = await now();
  const names = new Set(ours(scraped).map(({ name }) => name));
  const own = scraped.samples.filter(({ family }) => names.has(family));
  expect(
    [...new Set(own.flatMap(({ labels }) => Object.keys(labels)))].filter((name) => !LABELS.has(name)),
  ).toEqual([]);
  // Prometheus would overwrite these labels and rename ours.
  expect(
    own.flatMap(({ labels }) => Object.keys(labels)).filter((name) => /^(job|instance)$/.test(name)),
  ).toEqual([]);
  const codes = own.flatMap(({ labels }) => labels["code"] ?? []);
  expect(codes.filter((code) => !(code in REFUSALS) && code !== "client_left")).toEqual([]);
  expect(codes).toContain("model_not_found");
});

test("a flood of made-up models, keys, paths, methods, users and traces makes no new series", async () => {
  const flood = async (): Promise<void> => {
    for (let n = 0; n < 40; n += 1) {
      const word = `flood-${n}-${crypto.randomUUID()}`;
      await gateway.chat(customer, hello(word), { traceparent: word, "user-agent": word });
      await gateway.chat({ ...customer, secret: `gw_sk_${word}` }, hello());
      await gateway.chat(customer, { ...hello(), user: word, metadata: { word } });
      await gateway.chat(customer, { ...hello(), [word]: 1 });
      await fetch(`${gateway.url}/${word}?${word}=1`);
      await fetch(`${gateway.baseUrl}/models/${word}`, {
        headers: { authorization: `Bearer ${customer.secret}` },
      });
    }
  };
  await flood();
  const before = await now();
  await flood();
  const after = await now();
  const newcomers = after.samples.length - before.samples.length;
  expect(newcomers).toBe(0);
  expect(JSON.stringify(after)).not.toContain("flood-");
  expect(after.samples.length).toBeLessThan(1_500);
});
