// The house: health of this process, the audit of the ledger, management keys.
import type { AppAnswer } from "../../contract/app.ts";
import type { Desk } from "../../contract/desk.ts";
import { formatUsd, nanoUsd } from "../../contract/money.ts";
import type { Operator } from "../../contract/operator.ts";
import { mintManagementKey } from "../../keys/secret.ts";
import { isOpen } from "../../ledger/decide-key.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { OWNER_LOST } from "../../ledger/recovery.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/id.ts";
import { moneyOf, numberOf, orNull, type Sql, type SqlRow, textOf } from "../../store/sql.ts";
import { unknownRecord } from "../unknown-record.ts";
import { sinceRequest, stillRuns } from "./request-time.ts";
import { storeHealth, type StoreHealthPorts } from "./store-health.ts";

type Key = AppAnswer<"GET /operator/management-keys">["data"][number];

export interface HousePorts extends Pick<StoreHealthPorts, "lastBackup"> {
  sql: Sql;
  clock: Clock;
  ledger: Pick<Ledger, "createManagementKey" | "organizations" | "pulse" | "ready" | "revokeManagementKey">;
  operator: Pick<Operator, "ledger">;
  version: string;
  store: "sqlite" | "postgresql";
  startedAtMs: number;
  streamsOpen(): number;
  forgotten(): number;
  overloadRefusals(): number;
}

const DAY_MS = 86_400_000;
const LATE_SHOWN = 100;

type Mine = Pick<
  Desk,
  "createManagementKey" | "endLogins" | "health" | "ledgerReport" | "managementKeys" | "revokeManagementKey"
>;

export const house = (on: HousePorts): Mine => ({
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
      overload_refusals: on.overloadRefusals(),
      ...(await storeHealth(on)),
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
    const late = await on.sql.rows(
      `SELECT request.request_id, request.org_id, organization.name, hold, admitted_at, deadline_at
       FROM request JOIN organization ON organization.org_id = request.org_id
       WHERE ${stillRuns(on.sql)} AND deadline_at < ?1 ORDER BY deadline_at, request.request_id LIMIT ${LATE_SHOWN}`,
      startedAtMs,
    );
    const names = new Map((await on.ledger.organizations()).map(({ id, name }) => [id, name]));
    const of = (from: SqlRow | undefined, name: string): bigint => moneyOf(from?.[name] ?? 0);
    const drift = of(moved, "came") - of(moved, "went") - of(row, "spent") - of(row, "owned");
    return {
      ...report,
      violations: report.violations.map((violation) => ({
        ...violation,
        org_name: violation.org === null ? null : (names.get(violation.org) ?? null),
      })),
      late_holds: late.map((row) => ({
        request: textOf(row["request_id"]),
        org: textOf(row["org_id"]),
        org_name: textOf(row["name"]),
        held_usd: formatUsd(moneyOf(row["hold"])),
        admitted_at: time(numberOf(row["admitted_at"])),
        deadline_at: time(numberOf(row["deadline_at"])),
      })),
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
    const nowMs = on.clock.nowMs();
    return rows.map((row) => printKey(row, nowMs));
  },
  async createManagementKey(name, actor) {
    const id = newId("mk");
    const minted = mintManagementKey(id);
    await on.ledger.createManagementKey({ id, name, prefix: minted.prefix, digest: minted.digest }, actor);
    return { ...(await keyOf(on, id)), secret: minted.value };
  },
  async revokeManagementKey(id, actor) {
    const record = await on.ledger.revokeManagementKey(id, actor);
    if (record === null) throw unknownRecord("management_key", id, "key");
    return await keyOf(on, id);
  },
  async endLogins(personId, actor) {
    const open = await on.sql.rows(
      "SELECT id FROM management_key WHERE login_of = ?1 AND revoked_at IS NULL",
      personId,
    );
    for (const row of open) await on.ledger.revokeManagementKey(textOf(row["id"]), actor);
  },
});

const time = (ms: number): string => new Date(ms).toISOString();

async function keyOf({ sql, clock }: Pick<HousePorts, "sql" | "clock">, id: string): Promise<Key> {
  const [row] = await sql.rows("SELECT * FROM management_key WHERE id = ?1", id);
  if (row === undefined) throw unknownRecord("management_key", id, "key");
  return printKey(row, clock.nowMs());
}

function printKey(row: SqlRow, nowMs: number): Key {
  const revokedAtMs = orNull(row["revoked_at"], numberOf);
  const expiresAtMs = orNull(row["expires_at"], numberOf);
  return {
    id: textOf(row["id"]),
    name: textOf(row["name"]),
    prefix: textOf(row["prefix"]),
    created_at: time(numberOf(row["created_at"])),
    expires_at: expiresAtMs === null ? null : time(expiresAtMs),
    revoked_at: revokedAtMs === null ? null : time(revokedAtMs),
    state: isOpen({ revokedAtMs, expiresAtMs }, nowMs)
      ? "active"
      : revokedAtMs === null
        ? "expired"
        : "revoked",
    last_used_at: orNull(row["last_used_at"], (at) => time(numberOf(at))),
  };
}

/** How late a timer of no delay fires: what work in the loop adds to every request. */
async function loopDelayMs(): Promise<number> {
  const began = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 0));
  return Math.round((performance.now() - began) * 10) / 10;
}
