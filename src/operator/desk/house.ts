// The house: providers, health of this process, the audit of the ledger, management keys.
import type { AppAnswer } from "../../contract/app.ts";
import type { Desk } from "../../contract/desk.ts";
import { formatUsd, nanoUsd } from "../../contract/money.ts";
import type { Operator } from "../../contract/operator.ts";
import { mintManagementKey } from "../../keys/secret.ts";
import type { AttemptRecord, Ledger, ManagementKeyRecord } from "../../ledger/ledger.ts";
import { OWNER_LOST } from "../../ledger/recovery.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/id.ts";
import type { RouteStanding } from "../../releases/standing.ts";
import { moneyOf, numberOf, orNull, type Sql, type SqlRow, textOf } from "../../store/sql.ts";
import { unknownRecord } from "../unknown-record.ts";
import { sinceRequest, stillRuns } from "./request-time.ts";

type Provider = AppAnswer<"GET /operator/providers">["data"][number];
type Key = AppAnswer<"GET /operator/management-keys">["data"][number];

export interface ConfiguredProvider {
  name: string;
  kind: string;
  baseUrl: string | null;
  hasSecret: boolean;
}

export interface HousePorts {
  sql: Sql;
  clock: Clock;
  ledger: Pick<Ledger, "createManagementKey" | "ready" | "revokeManagementKey">;
  operator: Pick<Operator, "ledger">;
  standings(): RouteStanding[];
  providers: readonly ConfiguredProvider[];
  version: string;
  store: "sqlite" | "postgresql";
  startedAtMs: number;
  streamsOpen(): number;
  forgotten(): number;
}

const DAY_MS = 86_400_000;
const ATTEMPTS_READ = 20_000;

type Mine = Pick<
  Desk,
  "createManagementKey" | "health" | "ledgerReport" | "managementKeys" | "providers" | "revokeManagementKey"
>;

export const house = (on: HousePorts): Mine => ({
  async providers() {
    const errors = await errorsOf(on);
    const variance = await varianceOf(on);
    const running = await runningOf(on);
    const standings = on.standings();
    return on.providers.map((provider) => printProvider(provider, { errors, variance, running, standings }));
  },
  async health() {
    const [row] = await on.sql.rows(
      `SELECT count(*) AS holds, min(admitted_at) AS oldest FROM request WHERE ${stillRuns(on.sql)}`,
    );
    const [unknown] = await on.sql.rows(
      `SELECT count(*) AS requests FROM request WHERE org_id IN (SELECT org_id FROM organization)
         AND request_id >= ?1 AND error_code = ?2`,
      sinceRequest(on.clock.nowMs() - DAY_MS),
      OWNER_LOST,
    );
    const oldest = orNull(row?.["oldest"], numberOf);
    const holds = numberOf(row?.["holds"] ?? 0);
    return {
      version: on.version,
      started_at: time(on.startedAtMs),
      now: time(on.clock.nowMs()),
      ready: on.ledger.ready(),
      store: on.store,
      running: holds,
      holds_open: holds,
      oldest_hold_at: oldest === null ? null : time(oldest),
      outcomes_unknown: numberOf(unknown?.["requests"] ?? 0),
      streams_open: on.streamsOpen(),
      memory_bytes: process.memoryUsage().rss,
      event_loop_delay_ms: await loopDelayMs(),
      refusals_forgotten: on.forgotten(),
    };
  },
  async ledgerReport() {
    const startedAtMs = on.clock.nowMs();
    const began = performance.now();
    const report = await on.operator.ledger.audit();
    const [row] = await on.sql.rows(
      `SELECT COALESCE(sum(available + held - debt), 0) AS owned, COALESCE(sum(debt), 0) AS debt, COALESCE(sum(spent), 0) AS spent
       FROM org_balance`,
    );
    const [moved] = await on.sql.rows(
      `SELECT (SELECT COALESCE(sum(amount), 0) FROM topup) AS came,
         (SELECT COALESCE(sum(amount), 0) FROM reversal WHERE kind = 'chargeback') AS went,
         (SELECT count(*) FROM request WHERE ${stillRuns(on.sql)} AND deadline_at < ?1) AS late,
         (SELECT COALESCE(sum(amount), 0) FROM ledger_entry WHERE kind = 'variance') AS variance`,
      startedAtMs,
    );
    const of = (from: SqlRow | undefined, name: string): bigint => moneyOf(from?.[name] ?? 0);
    const drift = of(moved, "came") - of(moved, "went") - of(row, "spent") - of(row, "owned");
    return {
      ...report,
      started_at: time(startedAtMs),
      ms: Math.round(performance.now() - began),
      drift_usd: formatUsd(nanoUsd(drift)),
      variance_usd: formatUsd(moneyOf(moved?.["variance"] ?? 0)),
      debt_usd: formatUsd(moneyOf(row?.["debt"] ?? 0)),
      holds_past_deadline: numberOf(moved?.["late"] ?? 0),
    };
  },
  async managementKeys() {
    const rows = await on.sql.rows("SELECT * FROM management_key ORDER BY created_at DESC, id");
    return rows.map((row) => ({
      id: textOf(row["id"]),
      name: textOf(row["name"]),
      prefix: textOf(row["prefix"]),
      created_at: time(numberOf(row["created_at"])),
      revoked_at: orNull(row["revoked_at"], (at) => time(numberOf(at))),
    }));
  },
  async createManagementKey(name, actor) {
    const id = newId("mk");
    const minted = mintManagementKey(id);
    const record = await on.ledger.createManagementKey(
      { id, name, prefix: minted.prefix, digest: minted.digest },
      actor,
    );
    return { ...printKey(record), secret: minted.value };
  },
  async revokeManagementKey(id, actor) {
    const record = await on.ledger.revokeManagementKey(id, actor);
    if (record === null) throw unknownRecord("management_key", id, "key");
    return printKey(record);
  },
});

const time = (ms: number): string => new Date(ms).toISOString();

const printKey = (record: ManagementKeyRecord): Key => ({
  id: record.id,
  name: record.name,
  prefix: record.prefix,
  created_at: time(record.createdAtMs),
  revoked_at: record.revokedAtMs === null ? null : time(record.revokedAtMs),
});

/** How late a timer of no delay fires: what work in the loop adds to every request. */
async function loopDelayMs(): Promise<number> {
  const began = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 0));
  return Math.round((performance.now() - began) * 10) / 10;
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
): Provider => ({
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
async function errorsOf({ sql, clock }: HousePorts): Promise<Seen["errors"]> {
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
  on: HousePorts,
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

const varianceOf = (on: HousePorts): Promise<Map<string, bigint>> =>
  byProvider(on, "sum(variance)", "variance > 0", on.clock.nowMs() - 30 * DAY_MS);

async function runningOf(on: HousePorts): Promise<Map<string, number>> {
  const counts = await byProvider(on, "count(*)", stillRuns(on.sql), on.clock.nowMs() - DAY_MS);
  return new Map([...counts].map(([name, count]) => [name, Number(count)]));
}
