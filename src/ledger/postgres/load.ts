// Reads what a batch is decided on, each table once for the whole batch: the balances locked in the order of their
// organizations, then the clock, then the rest. All statements leave before the first is answered (money.md §7).
import type { Tier } from "../../domain/gateway-object.ts";
import { nextUtcMonth, utcMonth } from "../../lib/clock.ts";
import type { MoneyOperation } from "../decide/decide.ts";
import type { Reversal } from "../decide/reversal.ts";
import { type Asking, ask, statement } from "./query.ts";
import { type Cell, bytes, flag, int, intOrNull, money, moneyOrNull, text, textOrNull } from "./cell.ts";
import { type EntitlementRow, type RequestState, type Rows, noRows, rowId } from "../rows.ts";

export interface Loaded {
  rows: Rows;
  /** The database's clock, read after the locks were taken; milliseconds. Null when there was nothing to lock. */
  databaseNowMs: number | null;
}

/** Each row with the clock as it was read behind that row's lock: the latest was read behind all of them. */
const balances = (lock: "FOR UPDATE" | ""): string =>
  `WITH balance AS MATERIALIZED (
     SELECT org_id, available, held, debt, purchased, granted, spent, version, head_hash, stamped_at
     FROM org_balance WHERE org_id = ANY($1::text[]) AND slot = 0 ORDER BY org_id ${lock})
   SELECT balance.*, (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM balance`;

/** The month beside what it belongs to; null when the key has none yet. */
const KEY_MONTH = "m.month, m.held, m.spent, m.last_admitted_at";

const READ = {
  lockedBalances: statement("locked_balances", balances("FOR UPDATE")),
  balances: statement("balances", balances("")),
  keys: statement(
    "keys",
    `SELECT k.org_id, k.key_id, k.digest, k.scope, k.limit_nano, k.revoked_at, ${KEY_MONTH}
     FROM unnest($1::text[], $2::text[]) AS asked (org_id, key_id)
     JOIN api_key k ON k.org_id = asked.org_id AND k.key_id = asked.key_id
     LEFT JOIN key_month m ON m.org_id = k.org_id AND m.key_id = k.key_id AND m.month = ANY($3::text[])`,
  ),
  claims: statement(
    "claims",
    `SELECT c.org_id, c.key_id, c.idem_key, c.fingerprint, c.request_id, r.state, r.answer_until, r.claim_until,
       EXISTS (SELECT 1 FROM result x WHERE x.org_id = c.org_id AND x.request_id = c.request_id),
       r.closed_txn IS NULL AND EXISTS (SELECT 1 FROM quarantine q
         WHERE q.org_id = c.org_id AND q.request_id = c.request_id AND q.decided_at IS NULL)
     FROM unnest($1::text[], $2::text[], $3::text[]) AS asked (org_id, key_id, idem_key)
     JOIN claim c ON c.org_id = asked.org_id AND c.key_id = asked.key_id AND c.idem_key = asked.idem_key
     LEFT JOIN request r ON r.org_id = c.org_id AND r.request_id = c.request_id`,
  ),
  requests: statement(
    "requests",
    `SELECT r.org_id, r.request_id, r.key_id, r.idem_key, r.model, r.state, r.epoch, r.closed_txn, r.admitted_at, r.month,
       r.hold, r.prompt_bound, r.output_bound, r.delivered_tokens IS NOT NULL, r.lowered_txn IS NOT NULL,
       ${KEY_MONTH}
     FROM unnest($1::text[], $2::text[]) AS asked (org_id, request_id)
     JOIN request r ON r.org_id = asked.org_id AND r.request_id = asked.request_id
     LEFT JOIN key_month m ON m.org_id = r.org_id AND m.key_id = r.key_id AND m.month = r.month`,
  ),
  entitlements: statement(
    "entitlements",
    `SELECT e.org_id, e.model, e.state, e.expires_at
     FROM unnest($1::text[], $2::text[]) AS asked (org_id, model)
     CROSS JOIN LATERAL (
       SELECT org_id, model, state, expires_at FROM entitlement
       WHERE org_id = asked.org_id AND model = asked.model AND state = 'active' AND expires_at IS NOT NULL
       ORDER BY expires_at DESC LIMIT 1) e`,
  ),
  routes: statement(
    "routes",
    `SELECT s.route, s.highest_version, r.digest, r.expires_at, s.disabled
     FROM route_state s JOIN route_release r ON r.route = s.route AND r.version = s.highest_version
     WHERE s.route = ANY($1::text[])`,
  ),
  topUps: statement(
    "top_ups",
    `SELECT t.org_id, t.source, t.external_id, t.amount, t.kind, t.balance_after
     FROM unnest($1::text[], $2::text[], $3::text[]) AS asked (org_id, source, external_id)
     JOIN topup t ON t.org_id = asked.org_id AND t.source = asked.source AND t.external_id = asked.external_id`,
  ),
  reversals: statement(
    "reversals",
    `SELECT r.org_id, r.source, r.external_id, r.amount, r.kind, r.target, r.balance_after, r.debt_after
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
    `SELECT r.org_id, r.request_id, r.charge, (SELECT coalesce(sum(v.amount), 0)::bigint FROM reversal v
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
}

/** Everything the operations are decided on. On one connection, inside a transaction, unless nothing is locked. */
export async function loadRows(
  on: Asking,
  operations: readonly MoneyOperation[],
  { lock, aboutMs }: LoadTerms,
): Promise<Loaded> {
  const wanted = new Wanted(operations);
  const rows = noRows();
  const pairs = (from: Map<string, string[]>): string[][] => transposed([...from.values()], 2);
  const triples = (from: Map<string, string[]>): string[][] => transposed([...from.values()], 3);
  const read = async (
    wants: number,
    reading: keyof typeof READ,
    values: unknown[],
    put: Put,
  ): Promise<void> => {
    if (wants > 0) for (const row of await ask(on, READ[reading], values)) put(rows, row);
  };
  let databaseNowMs: number | null = null;
  const putBalanceAndClock: Put = (into, row) => {
    putBalance(into, row);
    databaseNowMs = Math.max(databaseNowMs ?? 0, int(row[10]));
  };
  const organizations = [...wanted.organizations].toSorted();
  await Promise.all([
    read(1, lock ? "lockedBalances" : "balances", [organizations], putBalanceAndClock),
    read(wanted.keys.size, "keys", [...pairs(wanted.keys), monthsAbout(aboutMs)], putKey),
    read(wanted.claims.size, "claims", triples(wanted.claims), putClaim),
    read(wanted.requests.size, "requests", pairs(wanted.requests), putRequest),
    read(wanted.entitlements.size, "entitlements", pairs(wanted.entitlements), putEntitlement),
    read(wanted.routes.size, "routes", [[...wanted.routes]], putRoute),
    read(wanted.topUps.size, "topUps", triples(wanted.topUps), putTopUp),
    read(wanted.reversals.size, "reversals", triples(wanted.reversals), putReversal),
    read(wanted.refundables.size, "refundables", pairs(wanted.refundables), putRefundable),
    read(wanted.quarantined.size, "quarantined", pairs(wanted.quarantined), putQuarantined),
  ]);
  return { rows, databaseNowMs };
}

const transposed = (rows: string[][], columns: number): string[][] =>
  Array.from({ length: columns }, (_, column) => rows.map((row) => row[column] ?? ""));

/** This month and its neighbours: stamps are lifted by up to an hour, and two clocks may differ a little. */
function monthsAbout(ms: number): string[] {
  const next = nextUtcMonth(ms);
  const first = Date.parse(`${utcMonth(ms)}-01T00:00:00Z`);
  return [utcMonth(first - 1), utcMonth(ms), utcMonth(next)];
}

type Put = (rows: Rows, row: Cell[]) => void;

const putBalance: Put = (
  rows,
  [id, available, held, debt, purchased, granted, spent, version, head, stamped],
) => {
  rows.balances.set(text(id), {
    organizationId: text(id),
    available: money(available),
    held: money(held),
    debt: money(debt),
    purchased: money(purchased),
    granted: money(granted),
    spent: money(spent),
    version: int(version),
    headHash: bytes(head),
    stampedAtMs: int(stamped),
  });
};

const putKey: Put = (rows, [organizationId, keyId, digest, scope, limit, revokedAt, ...month]) => {
  rows.keys.set(rowId(text(organizationId), text(keyId)), {
    organizationId: text(organizationId),
    keyId: text(keyId),
    digest: bytes(digest),
    scope: scope as Tier,
    limit: moneyOrNull(limit),
    revokedAtMs: intOrNull(revokedAt),
  });
  putKeyMonth(rows, text(organizationId), text(keyId), month);
};

/** Nothing where the key has no row of that month yet. */
function putKeyMonth(
  rows: Rows,
  organizationId: string,
  keyId: string,
  [month = null, held, spent, lastAdmittedAt]: Cell[],
): void {
  if (month === null) return;
  const id = rowId(organizationId, keyId, text(month));
  // A settlement and an admission of one key ask for the same row; both must change one and the same.
  if (rows.keyMonths.has(id)) return;
  rows.keyMonths.set(id, {
    organizationId,
    keyId,
    month: text(month),
    held: money(held),
    spent: money(spent),
    lastAdmittedAtMs: int(lastAdmittedAt),
  });
}

/** To decisions a request is unfinished or not; `admitted` matters to that mark and the sweeper alone. */
const stateOf = (cell: Cell | undefined): RequestState =>
  cell === "admitted" ? "dispatched" : (cell as RequestState);

const putClaim: Put = (rows, row) => {
  const [
    organizationId,
    keyId,
    idempotencyKey,
    fingerprint,
    requestId,
    state,
    answerUntil,
    claimUntil,
    kept,
    quarantined,
  ] = row;
  rows.claims.set(rowId(text(organizationId), text(keyId), text(idempotencyKey)), {
    organizationId: text(organizationId),
    keyId: text(keyId),
    idempotencyKey: text(idempotencyKey),
    fingerprint: bytes(fingerprint),
    requestId: text(requestId),
    state: state === null ? null : stateOf(state),
    answerUntilMs: intOrNull(answerUntil),
    claimUntilMs: intOrNull(claimUntil),
    answerKept: flag(kept),
    quarantined: flag(quarantined),
  });
};

const putRequest: Put = (rows, row) => {
  const [organizationId, requestId] = [text(row[0]), text(row[1])];
  rows.requests.set(rowId(organizationId, requestId), {
    organizationId,
    requestId,
    keyId: text(row[2]),
    idempotencyKey: textOrNull(row[3]),
    model: text(row[4]),
    state: stateOf(row[5]),
    epoch: int(row[6]),
    closedTxn: intOrNull(row[7]),
    admittedAtMs: int(row[8]),
    month: text(row[9]),
    hold: money(row[10]),
    promptBound: int(row[11]),
    outputBound: int(row[12]),
    checkpointed: flag(row[13]),
    lowered: flag(row[14]),
  });
  putKeyMonth(rows, organizationId, text(row[2]), row.slice(15));
};

const putEntitlement: Put = (rows, [organizationId, model, state, expiresAt]) => {
  const id = rowId(text(organizationId), text(model));
  const held = rows.entitlements.get(id) ?? [];
  held.push({ state: state as EntitlementRow["state"], expiresAtMs: intOrNull(expiresAt) });
  rows.entitlements.set(id, held);
};

const putRoute: Put = (rows, [route, highestVersion, digest, expiresAt, disabled]) => {
  rows.routes.set(text(route), {
    route: text(route),
    highestVersion: int(highestVersion),
    digest: text(digest),
    expiresAtMs: int(expiresAt),
    disabled: flag(disabled),
  });
};

const putTopUp: Put = (rows, [organizationId, source, externalId, amount, kind, balanceAfter]) => {
  rows.topUps.set(rowId(text(organizationId), text(source), text(externalId)), {
    amount: money(amount),
    kind: kind as "purchase" | "grant",
    balanceAfter: money(balanceAfter),
  });
};

const putReversal: Put = (
  rows,
  [organizationId, source, externalId, amount, kind, target, balance, debt],
) => {
  rows.reversals.set(rowId(text(organizationId), text(source), text(externalId)), {
    amount: money(amount),
    kind: kind as Reversal["kind"],
    target: text(target),
    balanceAfter: money(balance),
    debtAfter: money(debt),
  });
};

const putRefundable: Put = (rows, [organizationId, requestId, charge, refunded]) => {
  rows.refundables.set(rowId(text(organizationId), text(requestId)), {
    charge: money(charge),
    refunded: money(refunded),
  });
};

const putQuarantined: Put = (rows, [organizationId, requestId]) => {
  rows.quarantined.add(rowId(text(organizationId), text(requestId)));
};
