// Each Prometheus alert rule fires when its cause occurs on a live gateway, and none fires on a healthy one; each has
// a runbook that says what it means, where to look and what to do.
import { afterAll, beforeAll, expect, mock, spyOn, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import { byItself } from "../../src/domain/actor.ts";
import { nanoUsd } from "../../src/domain/money.ts";
import { RequestLog } from "../../src/operator/request-log.ts";
import { noteBackup } from "../../src/store/last-backup.ts";
import { publishExpired } from "../support/expired-release.ts";
import { Collector } from "../support/collector.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";
import { PLAIN } from "../support/models.ts";
import { type Look, namedIn, parseQuery, type Series } from "../support/promql.ts";
import { evaluate } from "../support/promql-eval.ts";
import { type Scrape, scrape } from "../support/scrape.ts";
import { waitFor } from "../support/wait.ts";

interface RuleJson {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
  annotations: { summary: string; runbook_url: string };
}

const root = join(import.meta.dir, "../..");
const file = parse(readFileSync(join(root, "deploy/prometheus/alerts.yaml"), "utf8")) as {
  groups: { name: string; rules: RuleJson[] }[];
};
const rules = file.groups.flatMap((group) => group.rules);
const DAY_MS = 86_400_000;

let gateway: TestGateway;
let customer: Customer;
let collector: Collector;
beforeAll(async () => {
  collector = new Collector();
  gateway = await startGateway({
    store: "sqlite", // elsewhere the backup is the database's own affair
    configure: (config) => {
      config.limits.maxConcurrent = 1;
      config.tracing = collector.tracing();
    },
  });
  customer = await gateway.customer({ usd: "100" });
});
afterAll(async () => {
  await gateway.stop();
  await collector.stop();
});

const chat = () => gateway.chat(customer, hello());
const NOTHING: Scrape = { families: [], samples: [] };

async function times(count: number, what: () => Promise<unknown>): Promise<void> {
  for (let n = 0; n < count; n += 1) await what();
}

async function failing(status: number, calls: number, model = "plain-1"): Promise<void> {
  gateway.simulator.behave({ behaviour: { status }, calls });
  await times(calls, () => gateway.chat(customer, hello(model)));
}

async function beyondTheQuote(): Promise<void> {
  gateway.simulator.behave({
    behaviour: { usage: { prompt_tokens: 5_000, completion_tokens: 5_000 } },
    calls: 1,
  });
  await chat();
}

/** Triggers the cause of each rule. May return what is scraped then, and how much later the rule is evaluated. */
const HAPPENS: Record<string, () => Promise<{ scraped?: Scrape; laterS?: number } | void>> = {
  TollgateDown: async () => {
    const other = await startGateway({ store: "sqlite" });
    expect((await scrape(other.url)).samples.length).toBeGreaterThan(0);
    await other.stop();
    return { scraped: await scrape(other.url).catch(() => NOTHING) };
  },
  TollgateStoreAway: async () => {
    spyOn(gateway.ledger, "ready").mockReturnValue(false);
  },
  TollgateAbandonedHold: async () => {
    const never = new Error("the ledger refuses whatever it is told");
    spyOn(gateway.ledger, "settle").mockRejectedValue(never);
    spyOn(gateway.ledger, "void").mockRejectedValue(never);
    await chat();
  },
  TollgateQuarantine: async () => {
    const pulse = gateway.ledger.pulse();
    spyOn(gateway.ledger, "pulse").mockReturnValue({ ...pulse, quarantined: 1 });
  },
  TollgateOrganizationStopped: async () => {
    const { organizationId } = await gateway.customer();
    await gateway.tamper("UPDATE org_balance SET held = held + 1 WHERE org_id = ?1", organizationId);
    await gateway.admin("GET", "/ledger/audit"); // it does not wait for the minute
  },
  TollgateProviderAccount: () => failing(401, 1),
  TollgateRouteClosed: () => failing(500, 5, "uncounted-1"),
  TollgateReleaseEnds: async () => {
    await gateway.publish({ ...PLAIN, model: "soon-1" }, { expiresInMs: DAY_MS });
  },
  TollgateBackupOld: async () => noteBackup(gateway.dataDir, { atMs: Date.now() - 8 * DAY_MS, bytes: 1 }),
  TollgateOverload: async () => {
    const before = gateway.simulator.bill().length;
    gateway.simulator.behave({ behaviour: { until_well: true } });
    const first = chat();
    await waitFor(async () => gateway.simulator.bill().length > before, "the first one's call");
    expect((await chat()).status).toBe(503);
    gateway.simulator.behaveWell();
    await first;
  },
  TollgateProviderFailing: async () => {
    await times(2, chat);
    await failing(503, 2);
  },
  TollgateRejected: () => failing(400, 1),
  TollgateVariance: beyondTheQuote,
  TollgateDoubts: beyondTheQuote,
  TollgateFailedJobs: async () => {
    const flush = spyOn(RequestLog.prototype, "flush").mockRejectedValueOnce(new Error("a job that failed"));
    await waitFor(() => Promise.resolve(flush.mock.calls.length > 1), "the next round of the request log");
  },
  TollgateCommitsSlow: async () => {
    // A disk that takes two seconds, as the ledger would report it.
    await times(100, async () => gateway.ledger.pulse().since.took.observe(2));
  },
  TollgateSweepLate: async () => {
    await waitFor(
      () => Promise.resolve(gateway.ledger.pulse().sweptAtMs !== null),
      "the ledger's first upkeep",
    );
    return { laterS: 3_600 };
  },
  TollgateSpansDropped: async () => {
    collector.behave = () => new Response("no", { status: 400 });
    const before = await spansDropped();
    await chat();
    await waitFor(async () => (await spansDropped()) > before, "the spans to be dropped");
  },
  TollgateRetriesWithoutKey: () =>
    times(25, () => gateway.chat(customer, hello(), { "x-stainless-retry-count": "1" })),
  TollgateLedgerDrift: async () => {
    const raised = "UPDATE org_balance SET debt = debt + 2500000000 WHERE org_id = ?1";
    await gateway.tamper(raised, customer.organizationId);
    await gateway.restart();
    await booksLookedAt();
  },
};

/** The second cause of rules that have two. */
const ALSO: typeof HAPPENS = {
  TollgateRouteClosed: async () => {
    await publishExpired(gateway, { ...PLAIN, model: "ended-1" });
    await waitFor(async () => {
      const { samples } = await scrape(gateway.url);
      return samples.some(
        ({ labels, value }) => labels["model"] === "ended-1" && labels["state"] === "stale" && value === 1,
      );
    }, "the end of a release");
  },
  TollgateLedgerDrift: async () => {
    const spentMore = "UPDATE org_balance SET spent = spent + 9000000000 WHERE org_id = ?1";
    await gateway.tamper(spentMore, customer.organizationId);
    await gateway.restart();
    await booksLookedAt();
  },
};

const spansDropped = async (): Promise<number> =>
  (await scrape(gateway.url)).samples
    .filter(({ name }) => name === "tollgate_spans_dropped_total")
    .reduce((sum, { value }) => sum + value, 0);

const booksLookedAt = (): Promise<void> =>
  waitFor(async () => {
    const { samples } = await scrape(gateway.url);
    return samples.some(({ name }) => name === "tollgate_ledger_drift_usd");
  }, "the books to be looked at");

/** An organization whose payment was charged back after it had spent some of it; its books add up, too. */
async function inDebt(): Promise<void> {
  const debtor = await gateway.customer({ usd: "0" });
  const { organizationId } = debtor;
  const paid = { organizationId, amount: nanoUsd(5_000_000_000n), source: "test", externalId: "pi_9" };
  await gateway.ledger.topUp({ ...paid, kind: "purchase" }, byItself("test"));
  await gateway.chat(debtor, hello());
  const back = { ...paid, kind: "chargeback", target: "pi_9", externalId: "dp_9" } as const;
  await gateway.ledger.reverse(back, byItself("test"));
  expect((await gateway.balance(debtor)).debt).toBeGreaterThan(0n);
}

const firing = (rule: RuleJson, looks: Look[], nowS = Date.now() / 1000): Series[] =>
  evaluate(parseQuery(rule.expr), looks, nowS);

/** Two scrapes, with an event between them. */
async function around(
  happens: () => ReturnType<(typeof HAPPENS)[string]>,
): Promise<{ looks: Look[]; laterS: number }> {
  const atS = Date.now() / 1000;
  const before = await scrape(gateway.url);
  const told = (await happens()) ?? {};
  const after = told.scraped ?? (await scrape(gateway.url));
  mock.restore();
  collector.behave = () => Response.json({});
  return {
    looks: [
      { atS: atS - 60, scrape: before },
      { atS, scrape: after },
    ],
    laterS: told.laterS ?? 0,
  };
}

test("a healthy gateway that serves fires no rule, and exports everything that the rules use", async () => {
  noteBackup(gateway.dataDir, { atMs: Date.now(), bytes: 1 });
  await inDebt();
  await gateway.restart(); // the books are checked again
  await booksLookedAt();
  await waitFor(
    () => Promise.resolve(gateway.ledger.pulse().sweptAtMs !== null),
    "the ledger's first upkeep",
  );
  const { looks } = await around(async () => {
    await times(3, chat);
    await gateway.stream(customer, hello());
  });
  expect(rules.filter((rule) => firing(rule, looks).length > 0).map(({ alert }) => alert)).toEqual([]);
  const names = new Set(looks.at(-1)?.scrape.samples.map(({ name }) => name));
  for (const { alert, expr } of rules)
    for (const { name } of namedIn(parseQuery(expr)))
      expect([alert, name, names.has(name)]).toEqual([alert, name, true]);
});

test("exactly the existing rules are triggered here", () => {
  expect(Object.keys(HAPPENS).toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
});

test.each([...Object.entries(HAPPENS), ...Object.entries(ALSO)])(
  "%s fires when it happens",
  async (name, happens) => {
    const rule = rules.find(({ alert }) => alert === name);
    if (rule === undefined) throw new Error(`there is no rule ${name}`);
    const { looks, laterS } = await around(happens);
    const series = firing(rule, looks, Date.now() / 1000 + laterS);
    expect([name, series.length > 0]).toEqual([name, true]);
    const named = [...rule.annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label = ""]) => label);
    for (const { labels } of series) expect(named.filter((label) => !(label in labels))).toEqual([]);
    if (/Account|RouteClosed/.test(name)) await gateway.restart(); // what it closed does not disturb the next one
  },
);

test("an abandoned route is silent once it is disabled, as its runbook says", async () => {
  const ends = rules.find(({ alert }) => alert === "TollgateReleaseEnds");
  const rings = async (): Promise<boolean> =>
    ends !== undefined &&
    firing(ends, [{ atS: Date.now() / 1000, scrape: await scrape(gateway.url) }]).some(
      ({ labels }) => labels["model"] === "unwanted-1",
    );
  await gateway.publish({ ...PLAIN, model: "unwanted-1" }, { expiresInMs: DAY_MS });
  expect(await rings()).toBe(true);
  await gateway.admin("POST", "/routes/disable", { route: "unwanted-1@simulator/local" });
  expect(await rings()).toBe(false);
});

test.each(rules)(
  "$alert is complete, and its runbook says what it means, where to look and what to do",
  (rule) => {
    expect(Object.keys(rule).toSorted()).toEqual(["alert", "annotations", "expr", "for", "labels"]);
    expect(rule.alert).toMatch(/^Tollgate[A-Z][A-Za-z]+$/);
    expect(["critical", "warning", "info"]).toContain(rule.labels.severity);
    expect(rule.for).toMatch(/^\d+m$/);
    expect(rule.annotations.summary).toEndWith(".");
    expect(rule.annotations.runbook_url).toBe(`docs/runbooks/${rule.alert}.md`);
    const page = readFileSync(join(root, rule.annotations.runbook_url), "utf8");
    for (const head of [`# ${rule.alert}`, "## What it means", "## Look here", "## Do this"])
      expect(page.split("\n")).toContain(head);
    const links = [...page.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = ""]) => link);
    const broken = links.filter(
      (link) => !existsSync(join(root, dirname(rule.annotations.runbook_url), link)),
    );
    expect(broken).toEqual([]);
  },
);

test("every alert runbook has its rule", () => {
  const pages = readdirSync(join(root, "docs/runbooks"))
    .filter((name) => name.startsWith("Tollgate"))
    .map((name) => name.replace(".md", ""));
  expect(pages.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
});
