// Reads what a batch is decided on, each table once for the whole batch: the balances locked in the order of their
// organizations, then the clock, then the rest. All statements leave before the first is answered (money.md §7).
import { nextUtcMonth, utcMonth } from "../../lib/clock.ts";
import type { MoneyOperation } from "../decide/decide.ts";
import type { Reversal } from "../decide/reversal.ts";
import { type Cell, int } from "../cell.ts";
import { selected, widthOf } from "../column-loads.ts";
import { LOAD } from "../columns.ts";
import { spendBesideKey, weekFromHour } from "../key-spend.ts";
import * as put from "../put-rows.ts";
import { type Rows, noRows, rowId } from "../rows.ts";
import type { Parameter, Question } from "./flight.ts";
import type { PostgresRates } from "./load-rates.ts";
import { statement, transposed } from "./query.ts";

export interface Loaded {
  rows: Rows;
  /** The database's clock, read after the locks were taken; milliseconds. Null when there was nothing to lock. */
  databaseNowMs: number | null;
}

/** Each row with the clock as it was read behind that row's lock: the latest was read behind all of them. */
const balances = (lock: "FOR UPDATE" | ""): string =>
  `WITH balance AS MATERIALIZED (
     SELECT ${selected(LOAD.balance, "b")}
     FROM org_balance b WHERE b.org_id = ANY($1::text[]) AND b.slot = 0 ORDER BY b.org_id ${lock})
   SELECT balance.*, (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM balance`;

/** The month beside what it belongs to; null when the key has none yet. */
const KEY_MONTH = selected(LOAD.keyMonth, "m");

const READ = {
  lockedBalances: statement("locked_balances", balances("FOR UPDATE")),
  balances: statement("balances", balances("")),
  keys: statement(
    "keys",
    `SELECT ${selected(LOAD.key, "k")}, ${KEY_MONTH}, spend.days, spend.holds
     FROM unnest($1::text[], $2::text[]) AS asked (org_id, key_id)
     JOIN api_key k ON k.org_id = asked.org_id AND k.key_id = asked.key_id
     LEFT JOIN key_month m ON m.org_id = k.org_id AND m.key_id = k.key_id AND m.month = ANY($3::text[])
     LEFT JOIN LATERAL (${spendBesideKey("$4")}) spend ON true`,
  ),
  claims: statement(
    "claims",
    `SELECT ${selected(LOAD.claim, "c")}, ${selected(LOAD.claiming, "r")},
       EXISTS (SELECT 1 FROM result x WHERE x.org_id = c.org_id AND x.request_id = c.request_id),
       r.closed_txn IS NULL AND EXISTS (SELECT 1 FROM quarantine q
         WHERE q.org_id = c.org_id AND q.request_id = c.request_id AND q.decided_at IS NULL)
     FROM unnest($1::text[], $2::text[], $3::text[]) AS asked (org_id, key_id, idem_key)
     JOIN claim c ON c.org_id = asked.org_id AND c.key_id = asked.key_id AND c.idem_key = asked.idem_key
     LEFT JOIN request r ON r.org_id = c.org_id AND r.request_id = c.request_id`,
  ),
  requests: statement(
    "requests",
    `SELECT ${selected(LOAD.request, "r")}, ${KEY_MONTH}
     FROM unnest($1::text[], $2::text[]) AS asked (org_id, request_id)
     JOIN request r ON r.org_id = asked.org_id AND r.request_id = asked.request_id
     LEFT JOIN key_month m ON m.org_id = r.org_id AND m.key_id = r.key_id AND m.month = r.month`,
  ),
  entitlements: statement(
    "entitlements",
    `SELECT ${selected(LOAD.entitlement, "e")}
     FROM unnest($1::text[], $2::text[]) AS asked (org_id, model)
     CROSS JOIN LATERAL (
       SELECT * FROM entitlement
       WHERE org_id = asked.org_id AND model = asked.model AND state = 'active' AND expires_at IS NOT NULL
       ORDER BY expires_at DESC LIMIT 1) e`,
  ),
  routes: statement(
    "routes",
    `SELECT ${selected(LOAD.routeState, "s")}, ${selected(LOAD.routeRelease, "r")}
     FROM route_state s JOIN route_release r ON r.route = s.route AND r.version = s.highest_version
     WHERE s.route = ANY($1::text[])`,
  ),
  topUps: statement(
    "top_ups",
    `SELECT ${selected(LOAD.topUp, "t")}
     FROM unnest($1::text[], $2::text[], $3::text[]) AS asked (org_id, source, external_id)
     JOIN topup t ON t.org_id = asked.org_id AND t.source = asked.source AND t.external_id = asked.external_id`,
  ),
  reversals: statement(
    "reversals",
    `SELECT ${selected(LOAD.reversal, "r")}
     FROM unnest($1::text[], $2::text[], $3::text[]) AS asked (org_id, source, external_id)
     JOIN reversal r ON r.org_id = asked.org_id AND r.source = asked.source AND r.external_id = asked.external_id`,
  ),
  quarantined: statement(
    "quarantined",
    `SELECT q.org_id, q.request_id FROM unnest($1::text[], $2::text[]) AS asked (org_id, request_id)
     JOIN quarantine q ON q.org_id = asked.org_id AND q.request_id = asked.request_id AND q.decided_at IS NULL`,
  ),
  refundables: statement(
    "refundables",
    `SELECT ${selected(LOAD.refundable, "r")}, (SELECT least(coalesce(sum(v.amount), 0), 9223372036854775807)::bigint FROM reversal v
         WHERE v.org_id = r.org_id AND v.kind = 'refund' AND v.target = r.request_id)
     FROM unnest($1::text[], $2::text[]) AS asked (org_id, request_id)
     JOIN request r ON r.org_id = asked.org_id AND r.request_id = asked.request_id AND r.state = 'settled'`,
  ),
};

/** Rows that a batch asks for, each once, by their ids. */
class Wanted {
  readonly organizations = new Set<string>();
  readonly keys = new Map<string, [string, string]>();
  readonly claims = new Map<string, [string, string, string]>();
  readonly requests = new Map<string, [string, string]>();
  readonly entitlements = new Map<string, [string, string]>();
  readonly routes = new Set<string>();
  readonly topUps = new Map<string, [string, string, string]>();
  readonly reversals = new Map<string, [string, string, string]>();
  readonly refundables = new Map<string, [string, string]>();
  readonly quarantined = new Map<string, [string, string]>();

  constructor(operations: readonly MoneyOperation[]) {
    for (const operation of operations) this.add(operation);
  }

  private add(operation: MoneyOperation): void {
    switch (operation.kind) {
      case "admit":
        this.addAdmission(operation.admission);
        break;
      case "settle":
        this.addRequest(operation.settlement);
        break;
      case "void":
        this.addRequest(operation.voiding);
        break;
      case "checkpoint":
        this.addRequest(operation.checkpoint);
        break;
      case "by_hand": {
        const { organizationId, requestId } = operation.ending;
        this.addRequest(operation.ending);
        this.quarantined.set(rowId(organizationId, requestId), [organizationId, requestId]);
        break;
      }
      case "top_up": {
        const { organizationId, source, externalId } = operation.topUp;
        this.organizations.add(organizationId);
        this.topUps.set(rowId(organizationId, source, externalId), [organizationId, source, externalId]);
        break;
      }
      case "reverse":
        this.addReversal(operation.reversal);
        break;
    }
  }

  private addAdmission({
    credential,
    claim,
    asked,
    lowerings = [],
  }: Extract<MoneyOperation, { kind: "admit" }>["admission"]): void {
    const { organizationId, keyId } = credential;
    this.organizations.add(organizationId);
    this.keys.set(rowId(organizationId, keyId), [organizationId, keyId]);
    if (claim !== null)
      this.claims.set(rowId(organizationId, keyId, claim.idempotencyKey), [
        organizationId,
        keyId,
        claim.idempotencyKey,
      ]);
    if (asked.kind === "refusal") return;
    for (const lowering of lowerings) this.addRequest(lowering);
    for (const { route } of asked.plan.routes) this.routes.add(route);
    const { model, tier } = asked.plan;
    if (tier === "research") this.entitlements.set(rowId(organizationId, model), [organizationId, model]);
  }

  private addReversal({ organizationId, source, externalId, kind, target }: Reversal): void {
    this.organizations.add(organizationId);
    this.reversals.set(rowId(organizationId, source, externalId), [organizationId, source, externalId]);
    if (kind === "refund") this.refundables.set(rowId(organizationId, target), [organizationId, target]);
  }

  private addRequest({ organizationId, requestId }: { organizationId: string; requestId: string }): void {
    this.organizations.add(organizationId);
    this.requests.set(rowId(organizationId, requestId), [organizationId, requestId]);
  }
}

export interface LoadTerms {
  /** Off for a preview, which decides without writing. */
  lock: boolean;
  /** About now: which months' rows of a key are read. */
  aboutMs: number;
  rates: PostgresRates;
}

/** Rows by question, the questions asked in this order. */
export type Ask = (questions: readonly Question[]) => Promise<Cell[][][]>;

/**
 * Everything the operations are decided on. On one connection, inside a transaction, unless nothing is locked. `ask`: the
 * first time; `askMore`: what only then shows to be needed.
 */
export async function loadRows(
  { ask, askMore }: Record<"ask" | "askMore", Ask>,
  operations: readonly MoneyOperation[],
  { lock, aboutMs, rates }: LoadTerms,
): Promise<Loaded> {
  const wanted = new Wanted(operations);
  const rows = noRows();
  const pairs = (from: Map<string, string[]>): string[][] => transposed([...from.values()], 2);
  const triples = (from: Map<string, string[]>): string[][] => transposed([...from.values()], 3);
  const questions: Question[] = [];
  const putting: put.Put[] = [];
  const read = (wants: number, reading: keyof typeof READ, values: Parameter[], into: put.Put): void => {
    if (wants === 0) return;
    questions.push({ statement: READ[reading], values });
    putting.push(into);
  };
  let databaseNowMs: number | null = null;
  const putBalanceAndClock: put.Put = (into, cells) => {
    put.putBalance(into, cells);
    databaseNowMs = Math.max(databaseNowMs ?? 0, int(cells[widthOf(LOAD.balance)]));
  };
  const organizations = [...wanted.organizations].toSorted();
  read(1, lock ? "lockedBalances" : "balances", [organizations], putBalanceAndClock);
  read(
    wanted.keys.size,
    "keys",
    [...pairs(wanted.keys), monthsAbout(aboutMs), weekFromHour(aboutMs)],
    putKeyAndMonth,
  );
  read(wanted.claims.size, "claims", triples(wanted.claims), put.putClaim);
  read(wanted.requests.size, "requests", pairs(wanted.requests), putRequestAndMonth);
  read(wanted.entitlements.size, "entitlements", pairs(wanted.entitlements), put.putEntitlement);
  read(wanted.routes.size, "routes", [[...wanted.routes]], put.putRoute);
  read(wanted.topUps.size, "topUps", triples(wanted.topUps), put.putTopUp);
  read(wanted.reversals.size, "reversals", triples(wanted.reversals), put.putReversal);
  read(wanted.refundables.size, "refundables", pairs(wanted.refundables), put.putRefundable);
  read(wanted.quarantined.size, "quarantined", pairs(wanted.quarantined), put.putQuarantined);
  const limits = rates.of(operations, rows);
  const expected = limits.expected();
  const answers = await ask([...questions, ...expected.questions]);
  for (const [index, into] of putting.entries()) for (const row of answers[index] ?? []) into(rows, row);
  expected.take(answers.slice(questions.length));
  for (let more = limits.missing(); more !== null; more = limits.missing())
    more.take(await askMore(more.questions));
  return { rows, databaseNowMs };
}

/** This month and its neighbours: stamps are lifted by up to an hour, and two clocks may differ a little. */
function monthsAbout(ms: number): string[] {
  const next = nextUtcMonth(ms);
  const first = Date.parse(`${utcMonth(ms)}-01T00:00:00Z`);
  return [utcMonth(first - 1), utcMonth(ms), utcMonth(next)];
}

const putKeyAndMonth: put.Put = (rows, cells) => {
  const key = put.putKey(rows, cells);
  putMonth(rows, cells, widthOf(LOAD.key));
  put.putKeySpend(rows, key, cells.slice(widthOf(LOAD.key) + widthOf(LOAD.keyMonth)));
};

const putRequestAndMonth: put.Put = (rows, cells) => {
  put.putRequest(rows, cells);
  putMonth(rows, cells, widthOf(LOAD.request));
};

/** Nothing where the key has no row of that month yet. */
function putMonth(rows: Rows, cells: readonly Cell[], from: number): void {
  if (cells[from] !== null) put.putKeyMonth(rows, cells, from);
}
