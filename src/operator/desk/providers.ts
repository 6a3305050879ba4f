// The providers of the configuration: how they answer, what failed, what the house paid; probed on request, and their
// breakers, which an operator opens by hand.
import { OperatorRefusal } from "../../contract/admin-refusals.ts";
import type { AppAnswer } from "../../contract/app.ts";
import type { Desk } from "../../contract/desk.ts";
import { formatUsd, nanoUsd } from "../../contract/money.ts";
import type { People } from "../../contract/people.ts";
import type { AttemptRecord } from "../../ledger/ledger.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Breakers } from "../../releases/breakers.ts";
import type { Health } from "../../releases/health.ts";
import type { RouteStanding } from "../../releases/standing.ts";
import { moneyOf, type Sql, textOf } from "../../store/sql.ts";
import { unknownRecord } from "../unknown-record.ts";
import { sinceRequest, stillRuns } from "./request-time.ts";

type Provider = AppAnswer<"GET /operator/providers">["data"][number];

export interface ConfiguredProvider {
  name: string;
  kind: string;
  baseUrl: string | null;
  hasSecret: boolean;
  /** Whether there is anything to probe. */
  probed: boolean;
}

export interface ProvidersPorts {
  sql: Sql;
  clock: Clock;
  people: Pick<People, "persons">;
  standings(): RouteStanding[];
  providers: readonly ConfiguredProvider[];
  health: Pick<Health, "lastProbe" | "probe">;
  breakers: Pick<Breakers, "close" | "of" | "open">;
  note: Desk["note"];
}

const DAY_MS = 86_400_000;
const ATTEMPTS_READ = 20_000;

export const providersDesk = (
  on: ProvidersPorts,
): Pick<Desk, "closeBreaker" | "openBreaker" | "probe" | "providers"> => ({
  providers: () => rowsOf(on),
  async probe(name) {
    const { probed } = configured(on, name);
    if (!probed)
      throw new OperatorRefusal(
        "not_configured",
        "This provider is not probed: its health.probe is null, or it runs inside the gateway.",
      );
    const began = performance.now();
    const well = (await on.health.probe(name)) === true;
    const ms = Math.round(performance.now() - began);
    return { provider: await rowOf(on, name), well, ms };
  },
  async openBreaker(name, reason, actor) {
    configured(on, name);
    if (await on.breakers.open(name, { reason, openedBy: actor.id }))
      await on.note({
        actor,
        action: "provider.open",
        organizationId: null,
        target: name,
        after: { reason },
      });
    return await rowOf(on, name);
  },
  async closeBreaker(name, actor) {
    configured(on, name);
    const reason = on.breakers.of(name)?.reason;
    if (await on.breakers.close(name))
      await on.note({
        actor,
        action: "provider.close",
        organizationId: null,
        target: name,
        before: { reason },
      });
    return await rowOf(on, name);
  },
});

function configured(on: Pick<ProvidersPorts, "providers">, name: string): ConfiguredProvider {
  const found = on.providers.find((provider) => provider.name === name);
  if (found === undefined) throw unknownRecord("provider", name, "provider");
  return found;
}

async function rowOf(on: ProvidersPorts, name: string): Promise<Provider> {
  const row = (await rowsOf(on)).find((provider) => provider.name === name);
  if (row === undefined) throw unknownRecord("provider", name, "provider");
  return row;
}

async function rowsOf(on: ProvidersPorts): Promise<Provider[]> {
  const errors = await errorsOf(on);
  const variance = await varianceOf(on);
  const running = await runningOf(on);
  const standings = on.standings();
  const openers = on.providers.flatMap(({ name }) => on.breakers.of(name)?.openedBy ?? []);
  const names = new Map((await on.people.persons([...new Set(openers)])).map(({ id, name }) => [id, name]));
  return on.providers.map((provider) => ({
    ...printProvider(provider, { errors, variance, running, standings }),
    ...handOf(on, provider, names),
  }));
}

const time = (ms: number): string => new Date(ms).toISOString();

/** What an operator did or may do by hand. */
function handOf(
  { health, breakers }: ProvidersPorts,
  { name, probed }: ConfiguredProvider,
  names: ReadonlyMap<string, string>,
): Pick<Provider, "last_probe" | "opened" | "probed"> {
  const probe = health.lastProbe(name);
  const opened = breakers.of(name);
  return {
    probed,
    last_probe: probe === null ? null : { at: time(probe.atMs), failing: probe.failing },
    opened:
      opened === null
        ? null
        : {
            reason: opened.reason,
            by: { id: opened.openedBy, name: names.get(opened.openedBy) ?? null },
            at: time(opened.openedAtMs),
          },
  };
}

interface Seen {
  errors: Map<string, Map<string, number>>;
  variance: Map<string, bigint>;
  running: Map<string, number>;
  standings: RouteStanding[];
}

const printProvider = (
  { name, kind, baseUrl, hasSecret }: ConfiguredProvider,
  { errors, variance, running, standings }: Seen,
): Omit<Provider, "last_probe" | "opened" | "probed"> => ({
  name,
  kind,
  host: baseUrl === null ? null : new URL(baseUrl).host,
  secret_set: hasSecret,
  routes: standings
    .filter(({ release }) => release.provider === name)
    .map(({ release, state, circuit, failures, nextProbeAtMs }) => ({
      route: release.route,
      state,
      circuit,
      failures,
      next_probe_at: nextProbeAtMs === null ? null : time(nextProbeAtMs),
    })),
  running: running.get(name) ?? 0,
  errors: [...(errors.get(name) ?? [])].map(([errorClass, attempts]) => ({ class: errorClass, attempts })),
  variance_usd: formatUsd(nanoUsd(variance.get(name) ?? 0n)),
});

/** Failed attempts of a day by provider and class. */
async function errorsOf({ sql, clock }: ProvidersPorts): Promise<Seen["errors"]> {
  const rows = await sql.rows(
    `SELECT attempts FROM request WHERE org_id IN (SELECT org_id FROM organization) AND request_id >= ?1
       AND (status IS NULL OR status >= 400 OR attempts LIKE '%"n":2%') LIMIT ?2`,
    sinceRequest(clock.nowMs() - DAY_MS),
    ATTEMPTS_READ,
  );
  const errors: Seen["errors"] = new Map();
  for (const row of rows) {
    for (const { provider, errorClass } of JSON.parse(textOf(row["attempts"])) as AttemptRecord[]) {
      if (errorClass === null) continue;
      const classes = errors.get(provider) ?? new Map<string, number>();
      errors.set(provider, classes.set(errorClass, (classes.get(errorClass) ?? 0) + 1));
    }
  }
  return errors;
}

async function byProvider(
  on: ProvidersPorts,
  column: string,
  where: string,
  sinceMs: number,
): Promise<Map<string, bigint>> {
  const rows = await on.sql.rows(
    `SELECT release_digest, ${column} AS amount FROM request
     WHERE org_id IN (SELECT org_id FROM organization) AND request_id >= ?1 AND ${where} GROUP BY release_digest`,
    sinceRequest(sinceMs),
  );
  const providers = new Map(on.standings().map(({ release }) => [release.digest, release.provider]));
  const sums = new Map<string, bigint>();
  for (const row of rows) {
    const name = providers.get(textOf(row["release_digest"]));
    if (name !== undefined) sums.set(name, (sums.get(name) ?? 0n) + moneyOf(row["amount"]));
  }
  return sums;
}

const varianceOf = (on: ProvidersPorts): Promise<Map<string, bigint>> =>
  byProvider(on, "sum(variance)", "variance > 0", on.clock.nowMs() - 30 * DAY_MS);

async function runningOf(on: ProvidersPorts): Promise<Map<string, number>> {
  const counts = await byProvider(on, "count(*)", stillRuns(on.sql), on.clock.nowMs() - DAY_MS);
  return new Map([...counts].map(([name, count]) => [name, Number(count)]));
}
