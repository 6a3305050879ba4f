// Reads what a batch is decided on, each row once, inside the write transaction (money.md §7). Statements are prepared
// once per connection.
import type { Database, Statement } from "bun:sqlite";
import type { Tier } from "../../domain/gateway-object.ts";
import { utcMonth } from "../../lib/clock.ts";
import type { MoneyOperation } from "../decide/decide.ts";
import type { Reversal } from "../decide/reversal.ts";
import type { AdmissionRequest } from "../ledger.ts";
import { type EntitlementRow, type KeyRow, type RequestState, type Rows, noRows, rowId } from "../rows.ts";
import { type Cell, bytes, int, intOrNull, money, text } from "./cell.ts";
import { stampOf } from "../stamp.ts";

/** A row in the order of its columns: arrays are what the driver makes fastest. */
type Reading = Statement<unknown, string[]>;

export class SqliteLoad {
  private readonly balance: Reading;
  private readonly key: Reading;
  private readonly keyMonth: Reading;
  private readonly claim: Reading;
  private readonly request: Reading;
  private readonly quarantine: Reading;
  private readonly entitlements: Reading;
  private readonly route: Reading;
  private readonly topUp: Reading;
  private readonly reversal: Reading;
  private readonly refundable: Reading;

  constructor(database: Database) {
    const prepare = (sql: string): Reading => database.prepare<unknown, string[]>(sql);
    this.balance = prepare(
      `SELECT available, held, debt, purchased, granted, spent, version, head_hash, stamped_at
       FROM org_balance WHERE org_id = ?1 AND slot = 0`,
    );
    this.key = prepare(
      "SELECT digest, scope, limit_nano, revoked_at FROM api_key WHERE org_id = ?1 AND key_id = ?2",
    );
    this.keyMonth = prepare(
      "SELECT held, spent, last_admitted_at FROM key_month WHERE org_id = ?1 AND key_id = ?2 AND month = ?3",
    );
    this.claim = prepare(
      `SELECT claim.fingerprint, claim.request_id, request.state, request.answer_until, request.claim_until,
         EXISTS (SELECT 1 FROM result WHERE result.org_id = claim.org_id AND result.request_id = claim.request_id),
         request.state = 'dispatched' AND EXISTS (SELECT 1 FROM quarantine q
           WHERE q.org_id = claim.org_id AND q.request_id = claim.request_id AND q.decided_at IS NULL)
       FROM claim LEFT JOIN request ON request.org_id = claim.org_id AND request.request_id = claim.request_id
       WHERE claim.org_id = ?1 AND claim.key_id = ?2 AND claim.idem_key = ?3`,
    );
    this.request = prepare(
      `SELECT key_id, idem_key, model, state, epoch, closed_txn, admitted_at, month, hold, prompt_bound,
         output_bound, delivered_tokens IS NOT NULL, lowered_txn IS NOT NULL
       FROM request WHERE org_id = ?1 AND request_id = ?2`,
    );
    this.quarantine = prepare(
      "SELECT 1 FROM quarantine WHERE org_id = ?1 AND request_id = ?2 AND decided_at IS NULL",
    );
    this.entitlements = prepare(
      `SELECT state, expires_at FROM entitlement
       WHERE org_id = ?1 AND model = ?2 AND state = 'active' AND expires_at IS NOT NULL
       ORDER BY expires_at DESC LIMIT 1`,
    );
    this.route = prepare(
      `SELECT route_state.highest_version, route_release.digest, route_release.expires_at, route_state.disabled
       FROM route_state JOIN route_release
         ON route_release.route = route_state.route AND route_release.version = route_state.highest_version
       WHERE route_state.route = ?1`,
    );
    this.topUp = prepare(
      "SELECT amount, kind, balance_after FROM topup WHERE org_id = ?1 AND source = ?2 AND external_id = ?3",
    );
    this.reversal = prepare(
      `SELECT amount, kind, target, balance_after, debt_after FROM reversal
       WHERE org_id = ?1 AND source = ?2 AND external_id = ?3`,
    );
    this.refundable = prepare(
      `SELECT charge, (SELECT ifnull(sum(amount), 0) FROM reversal
         WHERE reversal.org_id = request.org_id AND kind = 'refund' AND target = request.request_id)
       FROM request WHERE org_id = ?1 AND request_id = ?2 AND state = 'settled'`,
    );
  }

  /** `nowMs` decides which month's row of a key is read. */
  rows(operations: readonly MoneyOperation[], nowMs: number): Rows {
    const rows = noRows();
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
        case "by_hand":
          this.loadResolution(rows, operation.ending);
          this.loadQuarantine(rows, operation.ending);
          break;
        case "top_up":
          this.loadBalance(rows, operation.topUp.organizationId);
          this.loadTopUp(rows, operation.topUp);
          break;
        case "reverse":
          this.loadBalance(rows, operation.reversal.organizationId);
          this.loadReversal(rows, operation.reversal);
          break;
      }
    }
    return rows;
  }

  /** One key as it is now. */
  keyRow(organizationId: string, keyId: string): KeyRow | undefined {
    const found = first(this.key, organizationId, keyId);
    if (found === undefined) return undefined;
    return {
      organizationId,
      keyId,
      digest: bytes(found[0]),
      scope: found[1] as Tier,
      limit: found[2] === null ? null : money(found[2]),
      revokedAtMs: intOrNull(found[3]),
    };
  }

  private loadAdmission(rows: Rows, admission: AdmissionRequest, nowMs: number): void {
    const { organizationId, keyId } = admission.credential;
    if (!this.loadKey(rows, organizationId, keyId)) return;
    const newestMs = this.loadBalance(rows, organizationId);
    if (admission.claim !== null) this.loadClaim(rows, admission, admission.claim.idempotencyKey);
    if (admission.asked.kind === "refusal") return;
    for (const lowering of admission.lowerings ?? []) this.loadResolution(rows, lowering);
    this.loadKeyMonth(rows, [organizationId, keyId, utcMonth(stampOf(nowMs, newestMs))]);
    const { plan } = admission.asked;
    for (const { route } of plan.routes) this.loadRoute(rows, route);
    if (plan.tier === "research") this.loadEntitlements(rows, organizationId, plan.model);
  }

  /** The organization's newest stamp. */
  private loadBalance(rows: Rows, organizationId: string): number {
    const loaded = rows.balances.get(organizationId);
    if (loaded !== undefined) return loaded.stampedAtMs;
    const found = first(this.balance, organizationId);
    if (found === undefined) return 0;
    const stampedAtMs = int(found[8]);
    rows.balances.set(organizationId, {
      organizationId,
      available: money(found[0]),
      held: money(found[1]),
      debt: money(found[2]),
      purchased: money(found[3]),
      granted: money(found[4]),
      spent: money(found[5]),
      version: int(found[6]),
      headHash: bytes(found[7]),
      stampedAtMs,
    });
    return stampedAtMs;
  }

  private loadKey(rows: Rows, organizationId: string, keyId: string): boolean {
    const id = rowId(organizationId, keyId);
    if (rows.keys.has(id)) return true;
    const found = this.keyRow(organizationId, keyId);
    if (found === undefined) return false;
    rows.keys.set(id, found);
    return true;
  }

  private loadKeyMonth(rows: Rows, key: [organizationId: string, keyId: string, month: string]): void {
    const id = rowId(...key);
    if (rows.keyMonths.has(id)) return;
    const found = first(this.keyMonth, ...key);
    if (found === undefined) return;
    const [organizationId, keyId, month] = key;
    rows.keyMonths.set(id, {
      organizationId,
      keyId,
      month,
      held: money(found[0]),
      spent: money(found[1]),
      lastAdmittedAtMs: int(found[2]),
    });
  }

  private loadClaim(rows: Rows, { credential }: AdmissionRequest, idempotencyKey: string): void {
    const { organizationId, keyId } = credential;
    const id = rowId(organizationId, keyId, idempotencyKey);
    if (rows.claims.has(id)) return;
    const found = first(this.claim, organizationId, keyId, idempotencyKey);
    if (found === undefined) return;
    rows.claims.set(id, {
      organizationId,
      keyId,
      idempotencyKey,
      fingerprint: bytes(found[0]),
      requestId: text(found[1]),
      state: found[2] as RequestState | null,
      answerUntilMs: intOrNull(found[3]),
      claimUntilMs: intOrNull(found[4]),
      answerKept: found[5] === 1n,
      quarantined: found[6] === 1n,
    });
  }

  /** A request with what its hold was taken from. */
  private loadResolution(rows: Rows, place: { organizationId: string; requestId: string }): void {
    this.loadRequest(rows, place);
    const request = rows.requests.get(rowId(place.organizationId, place.requestId));
    if (request === undefined) return;
    const { organizationId, keyId, month } = request;
    this.loadBalance(rows, organizationId);
    this.loadKeyMonth(rows, [organizationId, keyId, month]);
  }

  private loadRequest(
    rows: Rows,
    { organizationId, requestId }: { organizationId: string; requestId: string },
  ): void {
    const id = rowId(organizationId, requestId);
    if (rows.requests.has(id)) return;
    const found = first(this.request, organizationId, requestId);
    if (found === undefined) return;
    rows.requests.set(id, {
      organizationId,
      requestId,
      keyId: text(found[0]),
      idempotencyKey: found[1] as string | null,
      model: text(found[2]),
      state: found[3] as RequestState,
      epoch: int(found[4]),
      closedTxn: intOrNull(found[5]),
      admittedAtMs: int(found[6]),
      month: text(found[7]),
      hold: money(found[8]),
      promptBound: int(found[9]),
      outputBound: int(found[10]),
      checkpointed: found[11] === 1n,
      lowered: found[12] === 1n,
    });
  }

  private loadQuarantine(
    rows: Rows,
    { organizationId, requestId }: { organizationId: string; requestId: string },
  ): void {
    if (first(this.quarantine, organizationId, requestId) !== undefined)
      rows.quarantined.add(rowId(organizationId, requestId));
  }

  private loadEntitlements(rows: Rows, organizationId: string, model: string): void {
    const id = rowId(organizationId, model);
    if (rows.entitlements.has(id)) return;
    const found = this.entitlements.values(organizationId, model) as Cell[][];
    rows.entitlements.set(
      id,
      found.map(([state, expiresAt]) => ({
        state: state as EntitlementRow["state"],
        expiresAtMs: intOrNull(expiresAt),
      })),
    );
  }

  private loadRoute(rows: Rows, route: string): void {
    if (rows.routes.has(route)) return;
    const found = first(this.route, route);
    if (found === undefined) return;
    rows.routes.set(route, {
      route,
      highestVersion: int(found[0]),
      digest: text(found[1]),
      expiresAtMs: int(found[2]),
      disabled: found[3] === 1n,
    });
  }

  private loadTopUp(
    rows: Rows,
    { organizationId, source, externalId }: { organizationId: string; source: string; externalId: string },
  ): void {
    const found = first(this.topUp, organizationId, source, externalId);
    if (found === undefined) return;
    rows.topUps.set(rowId(organizationId, source, externalId), {
      amount: money(found[0]),
      kind: found[1] as "purchase" | "grant",
      balanceAfter: money(found[2]),
    });
  }

  private loadReversal(rows: Rows, reversal: Reversal): void {
    const { organizationId, source, externalId, kind, target } = reversal;
    const earlier = first(this.reversal, organizationId, source, externalId);
    if (earlier !== undefined) {
      rows.reversals.set(rowId(organizationId, source, externalId), {
        amount: money(earlier[0]),
        kind: earlier[1] as Reversal["kind"],
        target: text(earlier[2]),
        balanceAfter: money(earlier[3]),
        debtAfter: money(earlier[4]),
      });
    }
    const request = kind === "refund" ? first(this.refundable, organizationId, target) : undefined;
    if (request === undefined) return;
    const [charge, refunded] = [money(request[0]), money(request[1])];
    rows.refundables.set(rowId(organizationId, target), { charge, refunded });
  }
}

function first(reading: Reading, ...parameters: string[]): Cell[] | undefined {
  return reading.values(...parameters)[0] as Cell[] | undefined;
}
