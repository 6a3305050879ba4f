// The configured providers: their responses, failures and the platform's cost; probes on request, and
// breakers, which an operator opens by hand.
import { DAY_MS } from "../domain/durations.ts";
import type * as platformShapes from "../api/shapes/platform.ts";
import type { z } from "zod";
import { formatUsd, nanoUsd } from "../domain/money.ts";
import type { People } from "../people/people.ts";
import type { Doubt } from "../ledger/records.ts";
import { attemptsIn } from "../ledger/unreadable.ts";
import type { Clock } from "../lib/clock.ts";
import type { Breakers } from "../releases/breakers.ts";
import type { Health } from "../releases/health.ts";
import type { ListedRoute } from "../releases/standing.ts";
import { from, rowsOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { printTime, printTimeOrNull } from "../domain/print.ts";
import { unknownRecord } from "../domain/unknown-record.ts";
import { eachProvider, type LabelBook } from "./labels.ts";
import { sinceRequest, stillRuns } from "./request-time.ts";
import { varianceByRelease } from "./variance.ts";

type Provider = z.output<typeof platformShapes.providerList>["data"][number];

interface ConfiguredProvider {
  name: string;
  kind: string;
  baseUrl: string | null;
  hasSecret: boolean;
  /** True if it can be probed. */
  probed: boolean;
}

export interface ProvidersPorts {
  sql: Sql;
  clock: Clock;
  people: Pick<People, "persons">;
  labels: LabelBook;
  listedRoutes(): ListedRoute[];
  providers: readonly ConfiguredProvider[];
  health: Pick<Health, "accountRefusal" | "lastProbe">;
  breakers: Pick<Breakers, "of">;
}

const ATTEMPTS_READ = 20_000;

/** Throws `OperatorRefusal` if no configured provider has this name. */
export function configured(on: Pick<ProvidersPorts, "providers">, name: string): ConfiguredProvider {
  const found = on.providers.find((provider) => provider.name === name);
  if (found === undefined) throw unknownRecord("provider", name, "provider");
  return found;
}

/** As `providerRows`. Throws `OperatorRefusal` if there is no such provider. */
export async function providerRow(on: ProvidersPorts, name: string): Promise<Provider> {
  const row = (await providerRows(on)).find((provider) => provider.name === name);
  if (row === undefined) throw unknownRecord("provider", name, "provider");
  return row;
}

/**
 * All configured providers, in order: routes, errors and doubts of their responses, variance, and open
 * breakers.
 */
export async function providerRows(on: ProvidersPorts): Promise<Provider[]> {
  const { errors, doubts } = await lapsesOf(on);
  const variance = await varianceOf(on);
  const running = await runningOf(on);
  const listed = on.listedRoutes();
  const openers = on.providers.flatMap(({ name }) => on.breakers.of(name)?.openedBy ?? []);
  const names = new Map((await on.people.persons([...new Set(openers)])).map(({ id, name }) => [id, name]));
  return on.providers.map((provider) => ({
    ...printProvider(provider, { errors, doubts, variance, running, listed }),
    ...handOf(on, provider, names),
  }));
}

/** What an operator has done or may do by hand. */
function handOf(
  { health, breakers }: ProvidersPorts,
  { name, probed }: ConfiguredProvider,
  names: ReadonlyMap<string, string>,
): Pick<Provider, "account" | "last_probe" | "opened" | "probed"> {
  const probe = health.lastProbe(name);
  const refusal = health.accountRefusal(name);
  const opened = breakers.of(name);
  return {
    probed,
    account:
      refusal === null ? null : { cause: refusal.cause, words: refusal.words, at: printTime(refusal.atMs) },
    last_probe: probe === null ? null : { at: printTime(probe.atMs), failing: probe.failing },
    opened:
      opened === null
        ? null
        : {
            reason: opened.reason,
            by: { id: opened.openedBy, name: names.get(opened.openedBy) ?? null },
            at: printTime(opened.openedAtMs),
          },
  };
}

/** Provider name → error class or doubt → attempts. */
type ByProvider = Map<string, Map<string, number>>;

interface Seen {
  errors: ByProvider;
  doubts: ByProvider;
  variance: Map<string, bigint>;
  running: Map<string, number>;
  listed: ListedRoute[];
}

const printProvider = (
  { name, kind, baseUrl, hasSecret }: ConfiguredProvider,
  { errors, doubts, variance, running, listed }: Seen,
): Omit<Provider, "account" | "last_probe" | "opened" | "probed"> => ({
  name,
  kind,
  host: baseUrl === null ? null : new URL(baseUrl).host,
  secret_set: hasSecret,
  routes: listed
    .filter(({ names }) => names?.provider === name)
    .map(({ route, state, reason, circuit, failures, nextProbeAtMs }) => ({
      route,
      state,
      reason,
      circuit,
      failures,
      next_probe_at: printTimeOrNull(nextProbeAtMs),
    })),
  running: running.get(name) ?? 0,
  errors: [...(errors.get(name) ?? [])].map(([errorClass, attempts]) => ({ class: errorClass, attempts })),
  doubts: [...(doubts.get(name) ?? [])].map(([doubt, attempts]) => ({ doubt: doubt as Doubt, attempts })),
  variance_usd: formatUsd(nanoUsd(variance.get(name) ?? 0n)),
});

/**
 * A day's failed attempts, by provider and class, and those whose figures were not accepted unchanged, by
 * reason.
 */
async function lapsesOf({ sql, clock }: ProvidersPorts): Promise<Pick<Seen, "errors" | "doubts">> {
  const query = from
    .selectFrom("request")
    .select("attempts")
    .where("org_id", "in", organizations)
    .where("request_id", ">=", sinceRequest(clock.nowMs() - DAY_MS))
    .where((eb) =>
      eb.or([
        eb("status", "is", null),
        eb("status", ">=", 400n),
        eb("attempts", "like", '%"n":2%'),
        eb("attempts", "like", '%"doubts":%'),
      ]),
    )
    .limit(ATTEMPTS_READ);
  const rows = await rowsOf(sql, query);
  const errors: ByProvider = new Map();
  const doubts: ByProvider = new Map();
  for (const row of rows) {
    // The audit reports damaged records; the others are counted.
    for (const attempt of attemptsIn(row.attempts) ?? []) {
      if (attempt.errorClass !== null) count(errors, attempt.provider, attempt.errorClass);
      for (const doubt of attempt.doubts ?? []) count(doubts, attempt.provider, doubt);
    }
  }
  return { errors, doubts };
}

function count(counts: ByProvider, provider: string, what: string): void {
  const known = counts.get(provider) ?? new Map<string, number>();
  counts.set(provider, known.set(what, (known.get(what) ?? 0) + 1));
}

/** A figure by the release that served, summed by its provider. */
async function byProvider(on: ProvidersPorts, figures: Map<string, bigint>): Promise<Map<string, bigint>> {
  const rows = [...figures].map(([digest, amount]) => ({ release_digest: digest, amount }));
  const providers = new Map<string, bigint>();
  await eachProvider(on.labels, rows, (name, { amount }) =>
    providers.set(name, (providers.get(name) ?? 0n) + amount),
  );
  return providers;
}

/** By organization: the table is in their order, and a range of ids is one range in each. */
const organizations = from.selectFrom("organization").select("org_id");

const varianceOf = async (on: ProvidersPorts): Promise<Map<string, bigint>> =>
  await byProvider(on, await varianceByRelease(on.sql, on.clock.nowMs() - 30 * DAY_MS));

/** Without their organizations: those that run have an index of their own. */
async function runningOf(on: ProvidersPorts): Promise<Map<string, number>> {
  const query = from
    .selectFrom("request")
    .where(stillRuns(on.sql))
    .where("request_id", ">=", sinceRequest(on.clock.nowMs() - DAY_MS))
    .groupBy("release_digest")
    .select((eb) => ["release_digest", eb.fn.countAll<bigint>().as("requests")]);
  const rows = await rowsOf(on.sql, query);
  const counts = await byProvider(on, new Map(rows.map((row) => [row.release_digest, BigInt(row.requests)])));
  return new Map([...counts].map(([name, count]) => [name, Number(count)]));
}
