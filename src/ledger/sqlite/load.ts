// Reads what a batch is decided on, each row once, inside the write transaction (money.md §7).
// Statements are prepared once per connection.
import type { Database, Statement } from "bun:sqlite";
import type { CallerIds } from "../../domain/credential.ts";
import type { RateDefaults } from "../../domain/rate-limits.ts";
import { utcMonth } from "../../lib/clock.ts";
import type { MoneyOperation } from "../decide/decide.ts";
import type { Reversal } from "../decide/reversal.ts";
import type { AdmissionRequest } from "../ledger.ts";
import type { Cell } from "../cell.ts";
import { selected } from "../column-loads.ts";
import { LOAD } from "../columns.ts";
import { countsDays } from "../key-spans.ts";
import { notedHolds, spendOf, spentByDay, weekFromHour } from "../key-spend.ts";
import * as put from "../put-rows.ts";
import { type KeyRow, type RequestRow, type Rows, noRows, rowId } from "../rows.ts";
import { SqliteRates } from "./load-rates.ts";
import { saturatedSum } from "./saturated-sum.ts";
import { stampOf } from "../stamp.ts";

/** Returns rows as arrays in column order, which the driver creates fastest. */
type Reading = Statement<unknown, (string | number)[]>;

/**
 * The parameters of a statement over several tables, as a table of one row. If SQLite may compare a parameter with their
 * columns directly, it plans the statement again for each value, which takes ten to forty times as long as finding the row.
 */
const asked = (...columns: string[]): string =>
  `(SELECT ${columns.map((column, index) => `?${index + 1} AS ${column}`).join(", ")}) asked`;

export class SqliteLoad {
  private readonly balance: Reading;
  private readonly key: Reading;
  private readonly keyMonth: Reading;
  private readonly spentByDay: Reading;
  private readonly notedHolds: Reading;
  private readonly claim: Reading;
  private readonly request: Reading;
  private readonly quarantine: Reading;
  private readonly entitlements: Reading;
  private readonly route: Reading;
  private readonly topUp: Reading;
  private readonly reversal: Reading;
  private readonly refundable: Reading;
  private readonly rates: SqliteRates;
  /** The last ones of this batch that were loaded completely: consecutive operations often need the same rows. */
  private lastAdmission: AdmissionRequest | null = null;
  private lastMonth: (CallerIds & { month: string }) | null = null;

  constructor(database: Database, rateDefaults: RateDefaults) {
    this.rates = new SqliteRates(database, rateDefaults);
    const prepare = (sql: string): Reading => database.prepare<unknown, (string | number)[]>(sql);
    this.balance = prepare(
      `SELECT ${selected(LOAD.balance, "b")} FROM org_balance b WHERE b.org_id = ?1 AND b.slot = 0`,
    );
    this.key = prepare(
      `SELECT ${selected(LOAD.key, "k")} FROM api_key k WHERE k.org_id = ?1 AND k.key_id = ?2`,
    );
    this.keyMonth = prepare(
      `SELECT ${selected(LOAD.keyMonth, "m")} FROM key_month m
       WHERE m.org_id = ?1 AND m.key_id = ?2 AND m.month = ?3`,
    );
    this.spentByDay = prepare(
      spentByDay("SELECT ?1 AS org_id, ?2 AS key_id", saturatedSum("u.charge")).sqlite,
    );
    this.notedHolds = prepare(
      notedHolds(`${asked("org_id", "key_id")}
        CROSS JOIN key_hold h ON h.org_id = asked.org_id AND h.key_id = asked.key_id`),
    );
    this.claim = prepare(
      `SELECT ${selected(LOAD.claim, "c")}, ${selected(LOAD.claiming, "r")},
         EXISTS (SELECT 1 FROM result x WHERE x.org_id = c.org_id AND x.request_id = c.request_id),
         r.closed_txn IS NULL AND EXISTS (SELECT 1 FROM quarantine q
           WHERE q.org_id = c.org_id AND q.request_id = c.request_id AND q.decided_at IS NULL)
       FROM ${asked("org_id", "key_id", "idem_key")}
       CROSS JOIN claim c ON c.org_id = asked.org_id AND c.key_id = asked.key_id AND c.idem_key = asked.idem_key
       LEFT JOIN request r ON r.org_id = c.org_id AND r.request_id = c.request_id`,
    );
    this.request = prepare(
      `SELECT ${selected(LOAD.request, "r")} FROM request r WHERE r.org_id = ?1 AND r.request_id = ?2`,
    );
    this.quarantine = prepare(
      "SELECT org_id, request_id FROM quarantine WHERE org_id = ?1 AND request_id = ?2 AND decided_at IS NULL",
    );
    this.entitlements = prepare(
      `SELECT ${selected(LOAD.entitlement, "e")} FROM ${asked("org_id", "model")}
       CROSS JOIN entitlement e ON e.org_id = asked.org_id AND e.model = asked.model
         AND e.state = 'active' AND e.expires_at IS NOT NULL
       ORDER BY e.expires_at DESC LIMIT 1`,
    );
    this.route = prepare(
      `SELECT ${selected(LOAD.routeState, "s")}, ${selected(LOAD.routeRelease, "r")}
       FROM ${asked("route")} CROSS JOIN route_state s ON s.route = asked.route
       JOIN route_release r ON r.route = s.route AND r.version = s.highest_version`,
    );
    this.topUp = prepare(
      `SELECT ${selected(LOAD.topUp, "t")} FROM topup t
       WHERE t.org_id = ?1 AND t.source = ?2 AND t.external_id = ?3`,
    );
    this.reversal = prepare(
      `SELECT ${selected(LOAD.reversal, "v")} FROM reversal v
       WHERE v.org_id = ?1 AND v.source = ?2 AND v.external_id = ?3`,
    );
    this.refundable = prepare(
      `SELECT ${selected(LOAD.refundable, "r")}, (SELECT ${saturatedSum("v.amount")} FROM reversal v
         WHERE v.org_id = r.org_id AND v.kind = 'refund' AND v.target = r.request_id)
       FROM request r WHERE r.org_id = ?1 AND r.request_id = ?2 AND r.state = 'settled'`,
    );
  }

  /** `nowMs` decides which month's row of a key is read. */
  rows(operations: readonly MoneyOperation[], nowMs: number): Rows {
    const rows = noRows();
    this.rates.begin();
    this.lastAdmission = null;
    this.lastMonth = null;
    for (const operation of operations) {
      switch (operation.kind) {
        case "admit":
          this.loadAdmission(rows, operation.admission, nowMs);
          break;
        case "settle":
          this.loadResolution(rows, operation.settlement);
          break;
        case "void":
          this.loadResolution(rows, operation.voiding);
          break;
        case "checkpoint":
          this.loadRequest(rows, operation.checkpoint);
          break;
        case "by_hand": {
          const { organizationId, requestId } = operation.ending;
          this.loadResolution(rows, operation.ending);
          load(rows, put.putQuarantined, this.quarantine, organizationId, requestId);
          break;
        }
        case "top_up": {
          const { organizationId, source, externalId } = operation.topUp;
          this.loadBalance(rows, organizationId);
          load(rows, put.putTopUp, this.topUp, organizationId, source, externalId);
          break;
        }
        case "reverse":
          this.loadBalance(rows, operation.reversal.organizationId);
          this.loadReversal(rows, operation.reversal);
          break;
      }
    }
    return rows;
  }

  /** Returns one key as it is now. */
  keyRow(organizationId: string, keyId: string): KeyRow | undefined {
    const found = first(this.key, organizationId, keyId);
    return found === undefined ? undefined : put.keyOf(found);
  }

  private loadAdmission(rows: Rows, admission: AdmissionRequest, nowMs: number): void {
    const { organizationId, keyId } = admission.credential;
    const repeats = asksAlike(this.lastAdmission, admission);
    if (!repeats && !this.loadKey(rows, organizationId, keyId)) return;
    if (admission.claim !== null) this.loadClaim(rows, admission, admission.claim.idempotencyKey);
    if (admission.asked.kind === "refusal") return void this.loadBalance(rows, organizationId);
    for (const lowering of admission.lowerings ?? []) this.loadResolution(rows, lowering);
    if (repeats) return;
    const atMs = stampOf(nowMs, this.loadBalance(rows, organizationId));
    this.loadKeyMonth(rows, admission.credential, utcMonth(atMs));
    this.loadKeySpend(rows, admission.credential, atMs);
    const { plan } = admission.asked;
    for (const { route } of plan.routes) this.loadRoute(rows, route);
    if (plan.tier === "research") this.loadEntitlements(rows, organizationId, plan.model);
    this.rates.ofAdmission(rows, { organizationId, keyId, model: plan.model }, plan.routes);
    this.lastAdmission = admission;
  }

  /** Returns the organization's newest stamp. */
  private loadBalance(rows: Rows, organizationId: string): number {
    if (!rows.balances.has(organizationId)) load(rows, put.putBalance, this.balance, organizationId);
    return rows.balances.get(organizationId)?.stampedAtMs ?? 0;
  }

  private loadKey(rows: Rows, organizationId: string, keyId: string): boolean {
    return (
      rows.keys.has(rowId(organizationId, keyId)) || load(rows, put.putKey, this.key, organizationId, keyId)
    );
  }

  private loadKeyMonth(rows: Rows, { organizationId, keyId }: CallerIds, month: string): void {
    const { lastMonth: last } = this;
    if (last?.organizationId === organizationId && last.keyId === keyId && last.month === month) return;
    this.lastMonth = { organizationId, keyId, month };
    if (!rows.keyMonths.has(rowId(organizationId, keyId, month)))
      load(rows, put.putKeyMonth, this.keyMonth, organizationId, keyId, month);
  }

  /** Loads nothing for a key that counts no days. */
  private loadKeySpend(rows: Rows, { organizationId, keyId }: CallerIds, atMs: number): void {
    const id = rowId(organizationId, keyId);
    const key = rows.keys.get(id);
    if (key === undefined || !countsDays(key) || rows.keySpends.has(id)) return;
    const days = this.spentByDay.values(organizationId, keyId, weekFromHour(atMs)) as Cell[][];
    const holds = this.notedHolds.values(organizationId, keyId) as Cell[][];
    rows.keySpends.set(id, spendOf(days, holds));
  }

  private loadClaim(rows: Rows, { credential }: AdmissionRequest, idempotencyKey: string): void {
    const { organizationId, keyId } = credential;
    if (!rows.claims.has(rowId(organizationId, keyId, idempotencyKey)))
      load(rows, put.putClaim, this.claim, organizationId, keyId, idempotencyKey);
  }

  /** Loads a request with the rows that its hold was taken from. */
  private loadResolution(rows: Rows, place: Place): void {
    const request = this.loadRequest(rows, place);
    if (request === undefined) return;
    this.loadBalance(rows, request.organizationId);
    this.loadKeyMonth(rows, request, request.month);
    this.rates.ofRequest(rows, request);
  }

  private loadRequest(rows: Rows, { organizationId, requestId }: Place): RequestRow | undefined {
    const id = rowId(organizationId, requestId);
    const known = rows.requests.get(id);
    if (known !== undefined) return known;
    const found = first(this.request, organizationId, requestId);
    if (found === undefined) return undefined;
    const row = put.requestRowOf(found);
    rows.requests.set(id, row);
    return row;
  }

  private loadEntitlements(rows: Rows, organizationId: string, model: string): void {
    if (!rows.entitlements.has(rowId(organizationId, model)))
      load(rows, put.putEntitlement, this.entitlements, organizationId, model);
  }

  private loadRoute(rows: Rows, route: string): void {
    if (!rows.routes.has(route)) load(rows, put.putRoute, this.route, route);
  }

  private loadReversal(rows: Rows, reversal: Reversal): void {
    const { organizationId, source, externalId, kind, target } = reversal;
    load(rows, put.putReversal, this.reversal, organizationId, source, externalId);
    if (kind === "refund") load(rows, put.putRefundable, this.refundable, organizationId, target);
  }
}

/** True if everything but the claim and the lowerings of an admission was loaded with the previous one. */
function asksAlike(last: AdmissionRequest | null, { credential, asked: wanted }: AdmissionRequest): boolean {
  if (last?.asked.kind !== "plan" || wanted.kind !== "plan") return false;
  const { organizationId, keyId } = last.credential;
  const { model, tier, routes } = last.asked.plan;
  return (
    organizationId === credential.organizationId &&
    keyId === credential.keyId &&
    model === wanted.plan.model &&
    tier === wanted.plan.tier &&
    routes.length === wanted.plan.routes.length &&
    routes.every(({ route }, index) => route === wanted.plan.routes[index]?.route)
  );
}

interface Place {
  organizationId: string;
  requestId: string;
}

function first(reading: Reading, ...parameters: string[]): Cell[] | undefined {
  return reading.values(...parameters)[0] as Cell[] | undefined;
}

/** Returns false if there is no such row. */
function load(rows: Rows, into: put.Put, reading: Reading, ...parameters: string[]): boolean {
  const found = first(reading, ...parameters);
  if (found !== undefined) into(rows, found);
  return found !== undefined;
}
