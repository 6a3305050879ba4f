// The Grafana dashboard matches what a gateway really exports: each query is parsed, its metrics and labels are
// looked up, and it has a value over two scrapes with all kinds of traffic between them.
import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { RequestLog } from "../../src/operator/request-log.ts";
import { Collector } from "../support/collector.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { type Expr, type Look, namedIn, parseQuery } from "../support/promql.ts";
import { evaluate } from "../support/promql-eval.ts";
import { scrape } from "../support/scrape.ts";
import { waitFor } from "../support/wait.ts";
import { spansExported } from "../support/exported-spans.ts";

interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { h: number; w: number; x: number; y: number };
  targets?: { refId: string; expr: string; legendFormat: string; datasource: unknown }[];
}

const dashboard = JSON.parse(
  readFileSync(join(import.meta.dir, "../../deploy/grafana/tollgate.json"), "utf8"),
) as { uid: string; panels: Panel[]; templating: { list: { name: string; query: unknown }[] } };
const targets = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map((target) => ({ title, ...target })),
);

/** With Grafana's variables filled in. */
const read = (expr: string): Expr =>
  parseQuery(expr.replaceAll("$__rate_interval", "5m").replaceAll("$model", ".*"));

let gateway: TestGateway;
let customer: Customer;
let collector: Collector;
const looks: Look[] = [];

beforeAll(async () => {
  collector = new Collector();
  gateway = await startGateway({
    store: "sqlite", // elsewhere the backup is the database's own affair
    configure: (config) => {
      config.limits.keyConcurrent = 1;
      config.tracing = collector.tracing();
    },
  });
  customer = await gateway.customer({ usd: "100" });
  await waitFor(
    () => Promise.resolve(gateway.ledger.pulse().sweptAtMs !== null),
    "the ledger's first upkeep",
  );
  for (let round = 0; round < 2; round += 1) {
    await traffic(round);
    // A minute apart, as for a scraper; the figures are the gateway's.
    looks.push({ atS: Date.now() / 1000 + 60 * round, scrape: await scrape(gateway.url) });
  }
});
afterAll(async () => {
  await gateway.stop();
  await collector.stop();
});

async function traffic(round: number): Promise<void> {
  await gateway.chat(customer, hello());
  await gateway.stream(customer, hello());
  await gateway.chat(customer, hello("nobody-has-this"));
  await gateway.chat(customer, hello(), { "x-stainless-retry-count": "1" });
  gateway.simulator.behave({ behaviour: { status: 500 }, calls: 1 });
  await gateway.chat(customer, hello());
  const usage = { prompt_tokens: 5_000, completion_tokens: 5_000 };
  gateway.simulator.behave({ behaviour: { usage }, calls: 1 });
  await gateway.chat(customer, hello());
  const before = gateway.simulator.bill().length;
  const behaviour = { until_well: true, tokens_per_second: 20, completion_tokens: 10 };
  gateway.simulator.behave({ behaviour, calls: 1 });
  const slow = gateway.stream(customer, hello());
  await waitFor(async () => gateway.simulator.bill().length > before, "its call");
  await gateway.chat(customer, hello()); // beyond the key's limit
  gateway.simulator.behaveWell();
  await slow;
  const flush = spyOn(RequestLog.prototype, "flush").mockRejectedValueOnce(new Error("a job that failed"));
  await waitFor(() => Promise.resolve(flush.mock.calls.length > 1), "the next round of the request log");
  flush.mockRestore();
  await spansExported(gateway.url);
  if (round === 0) return;
  collector.behave = () => new Response("no", { status: 400 });
  await gateway.chat(customer, hello());
  await spansExported(gateway.url); // they are refused
}

test("there are queries, each with a legend, in panels that are described and do not overlap", () => {
  expect(targets.length).toBeGreaterThan(35);
  for (const { type, title, description = "", targets: own = [] } of dashboard.panels) {
    if (type === "row") continue;
    expect([title, description.endsWith("."), own.length > 0]).toEqual([title, true, true]);
    for (const { legendFormat, datasource } of own)
      expect([title, legendFormat === "", datasource]).toEqual([
        title,
        false,
        { type: "prometheus", uid: "${datasource}" },
      ]);
  }
  const ids = dashboard.panels.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const cells = dashboard.panels.flatMap(({ gridPos: { h, w, x, y } }) =>
    Array.from({ length: h * w }, (_, n) => `${x + (n % w)},${y + Math.floor(n / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(dashboard.templating.list.map(({ name }) => name)).toEqual(["datasource", "model"]);
});

test.each(targets.map(({ title, refId, expr }) => [`${title} ${refId}`, expr] as const))(
  "%s is answered by what the gateway exports",
  (_, expr) => {
    const query = read(expr);
    const samples = looks.at(-1)?.scrape.samples ?? [];
    for (const { name, labels } of namedIn(query)) {
      const own = samples.filter((sample) => sample.name === name);
      expect([name, own.length > 0]).toEqual([name, true]);
      const known = new Set(own.flatMap((sample) => Object.keys(sample.labels)));
      expect([name, labels.filter((label) => !known.has(label))]).toEqual([name, []]);
    }
    const values = evaluate(query, looks);
    expect([expr, values.length > 0]).toEqual([expr, true]);
    expect(
      values.filter(({ value }) => !Number.isFinite(value) && !expr.startsWith("histogram_quantile")),
    ).toEqual([]);
  },
);

test("a legend uses labels of its query's own result", () => {
  for (const { expr, legendFormat } of targets) {
    const labels = new Set(evaluate(read(expr), looks).flatMap((one) => Object.keys(one.labels)));
    const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label);
    expect([expr, named.filter((label) => !labels.has(label))]).toEqual([expr, []]);
  }
});

test("the variable lists what the gateway serves", () => {
  const [, metric = "", label = ""] =
    /label_values\((\w+), (\w+)\)/.exec(JSON.stringify(dashboard.templating)) ?? [];
  const models = looks
    .at(-1)
    ?.scrape.samples.flatMap((one) => (one.name === metric ? [one.labels[label]] : []));
  expect(models).toContain("plain-1");
});
