// `npm run load-model -- [--organizations 10000] [--skew 1] [--cores 32] [--commit-ms 0.9] [--writers 4]
// [--measure]`: what 100 to 100,000 requests a second need, where one database breaks first, and what to do about it.
// docs/operations.md has its table.
import { parseArgs } from "node:util";
import { MEASURED, ONE_DATABASE } from "./costs.ts";
import { costsFrom, measure, type Measured } from "./measure.ts";
import { breaksAt, type Costs, databasesFor, type Limits, type Load, needsOf, tightest } from "./model.ts";
import { printTable } from "./table.ts";

const RATES = [100, 1_000, 10_000, 30_000, 100_000];
const REMEDY: Readonly<Record<keyof Limits, string>> = {
  cores:
    "few and busy gateways, whose commits carry more; then more databases, organizations spread over them",
  logBytes: "more databases, or a faster disk for the log",
  connections: "more databases: each gateway keeps its connections to one",
  hottest: "its requests to one gateway by hash, then several balance rows (docs/operations.md, the ladder)",
};
const LIMIT: Readonly<Record<keyof Limits, string>> = {
  cores: "cores of the database",
  logBytes: "the database's log",
  connections: "connections",
  hottest: "the largest organization's balance row",
};

const { values } = parseArgs({
  options: {
    organizations: { type: "string", default: "10000" },
    skew: { type: "string", default: "1" },
    cores: { type: "string", default: String(ONE_DATABASE.cores) },
    "commit-ms": { type: "string", default: String(MEASURED.commitMs) },
    writers: { type: "string", default: String(MEASURED.writers) },
    measure: { type: "boolean", default: false },
  },
});
const number = (name: Exclude<keyof typeof values, "measure">, least: number, most: number): number => {
  const value = Number(values[name]);
  if (value >= least && value <= most) return value;
  console.error(`--${name} ${values[name]} is not a number from ${least} to ${most}.`);
  process.exit(2);
};

const load = { organizations: Math.floor(number("organizations", 1, 1e6)), skew: number("skew", 0, 3) };
const limits: Limits = { ...ONE_DATABASE, cores: number("cores", 1, 1024) };
const costs = {
  ...(values.measure ? await measuredHere() : MEASURED),
  commitMs: number("commit-ms", 0.01, 1000),
  writers: Math.floor(number("writers", 1, 64)),
};
console.log(printed({ costs, limits }));

async function measuredHere(): Promise<Costs> {
  const rounds = await measure((line) => console.error(line));
  console.log(printRounds(rounds));
  const found = costsFrom(rounds, MEASURED);
  console.log(
    `${JSON.stringify(found, (_, value: unknown) => (typeof value === "number" ? rounded(value) : value))}\n`,
  );
  return found;
}

function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

function printRounds(rounds: readonly Measured[]): string {
  const figures = (round: Measured): string[] =>
    Object.values(round as unknown as Record<string, number>).map((value) => String(rounded(value)));
  const [first] = rounds;
  return printTable([Object.keys(first ?? {}), ...rounds.map(figures)]);
}

function printed(on: { costs: Costs; limits: Limits }): string {
  const rows = RATES.map((rate) => row({ ...load, rate }, on));
  const heading = [
    "requests/s",
    "databases",
    "cores",
    "gateways",
    "operations/commit",
    "database µs",
    "gateway µs",
    "log MB/s",
    "largest/s",
    "GB a day",
    "first at its limit",
  ];
  const rate = breaksAt(load, on);
  const limit = tightest(needsOf({ ...load, rate }, 1, on));
  return [
    `${load.organizations} organizations, skew ${load.skew}; machines at 60 %, a database of ${on.limits.cores} cores`,
    printTable([heading, ...rows]),
    "",
    `One database of this load breaks at ${rounded(rate)} requests/s: ${LIMIT[limit]}.`,
    `What to do: ${REMEDY[limit]}.`,
  ].join("\n");
}

function row(at: Load, on: { costs: Costs; limits: Limits }): string[] {
  const databases = databasesFor(at, on);
  const needs = needsOf(at, databases, on);
  const limit = tightest(needs);
  const full = `${LIMIT[limit]} ${Math.round(needs.used[limit] * 100)} %`;
  return [
    String(at.rate),
    String(databases),
    String(needs.databaseCores),
    String(needs.gateways),
    needs.batches.operations.toFixed(1),
    needs.databaseMicros.toFixed(0),
    needs.gatewayMicros.toFixed(0),
    (needs.logBytesPerSecond / 1e6).toFixed(1),
    needs.hottest.toFixed(0),
    (needs.storedBytesPerDay / 1e9).toFixed(0),
    full,
  ];
}
