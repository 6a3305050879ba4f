// Credits of one organization: the arithmetic line, open holds, the ledger as a page of a statement.
import type { AppAnswer } from "../../contract/app.ts";
import type { Desk, LedgerQuery } from "../../contract/desk.ts";
import { addUsd, formatUsd, subUsd, ZERO_USD, type NanoUsd } from "../../contract/money.ts";
import type { Clock } from "../../lib/clock.ts";
import { moneyOf, numberOf, orNull, type Sql, type SqlRow, textOf } from "../../store/sql.ts";
import { Conditions } from "./conditions.ts";
import { numberedCursor, requestCursor } from "./cursors.ts";
import type { LabelBook } from "./labels.ts";
import { movesPage } from "./moves.ts";
import { stillRuns } from "./request-time.ts";
import { windowIfAsked } from "./windows.ts";

type Billing = AppAnswer<"GET /orgs/{org}/billing">;
type Entry = AppAnswer<"GET /orgs/{org}/billing/ledger">["data"][number];
type TopUp = AppAnswer<"GET /orgs/{org}/billing/top-ups">["data"][number];
export type Sums = Omit<Billing, "drivers" | "presets_usd" | "minimum_usd" | "maximum_usd">;

export interface BillingPorts {
  sql: Sql;
  clock: Clock;
  labels: LabelBook;
}

const PAGE = 50;
/** Moves that change nothing of what the organization owns. */
const HOLD_MOVES = ["hold", "rest", "void", "variance"];

export const billing = (on: BillingPorts): Pick<Desk, "billing" | "holds" | "ledgerPage" | "topUps"> => ({
  async billing(organizationId) {
    const [row] = await on.sql.rows(
      `SELECT org_balance.*,
         (SELECT count(*) FROM request WHERE request.org_id = org_balance.org_id AND ${stillRuns(on.sql)}) AS holds,
         (SELECT COALESCE(sum(amount), 0) FROM topup WHERE topup.org_id = org_balance.org_id AND kind = 'grant') AS grants,
         (SELECT COALESCE(sum(amount), 0) FROM topup WHERE topup.org_id = org_balance.org_id AND kind = 'purchase') AS purchases,
         (SELECT COALESCE(sum(amount), 0) FROM reversal WHERE reversal.org_id = org_balance.org_id AND kind = 'refund') AS refunds,
         (SELECT COALESCE(sum(amount), 0) FROM reversal WHERE reversal.org_id = org_balance.org_id AND kind = 'chargeback') AS chargebacks
       FROM org_balance WHERE org_id = ?1 AND slot = 0`,
      organizationId,
    );
    if (row === undefined) throw new Error(`organization ${organizationId} has no balance`);
    return sumsOf(row);
  },
  async holds(organizationId, { cursor, limit = PAGE }) {
    const conditions = new Conditions()
      .and("org_id = ?", organizationId)
      .and("request_id < ?", requestCursor(cursor))
      .also(stillRuns(on.sql));
    const end = `ORDER BY request_id DESC LIMIT ${conditions.bind(limit + 1)}`;
    const rows = await on.sql.rows(
      `SELECT request_id, key_id, model, hold, admitted_at, deadline_at FROM request ${conditions.where} ${end}`,
      ...conditions.values,
    );
    const keys = await on.labels.keysOf(organizationId);
    const data = rows.slice(0, limit).map((row) => ({
      request: textOf(row["request_id"]),
      key: { id: textOf(row["key_id"]), name: keys.get(textOf(row["key_id"])) ?? textOf(row["key_id"]) },
      model: textOf(row["model"]),
      amount_usd: formatUsd(moneyOf(row["hold"])),
      admitted_at: time(row["admitted_at"]),
      deadline_at: time(row["deadline_at"]),
    }));
    return { data, next_cursor: rows.length > limit ? (data.at(-1)?.request ?? null) : null };
  },
  async ledgerPage(organizationId, query) {
    const limit = query.limit ?? PAGE;
    const conditions = entryConditions(on, organizationId, query);
    const end = `ORDER BY version DESC LIMIT ${conditions.bind(limit + 1)}`;
    const rows = await on.sql.rows(
      `SELECT * FROM ledger_entry ${conditions.where} ${end}`,
      ...conditions.values,
    );
    const data = rows.slice(0, limit).map(entryOf);
    return { data, next_cursor: rows.length > limit ? String(data.at(-1)?.n) : null };
  },
  async topUps(organizationId, { cursor, limit = PAGE }) {
    const { rows, nextCursor } = await movesPage(on.sql, { organizationId, cursor, limit });
    return { data: rows.map(topUpOf), next_cursor: nextCursor };
  },
});

const time = (value: unknown): string => new Date(numberOf(value)).toISOString();

/** purchases + grants + refunds − charges − chargebacks = available + held − debt (money.md §5). */
function sumsOf(row: SqlRow): Sums {
  const of = (name: string): NanoUsd => moneyOf(row[name]);
  const [available, held, debt] = [of("available"), of("held"), of("debt")];
  const [purchases, grants, refunds] = [of("purchases"), of("grants"), of("refunds")];
  // A refund lowers `spent`; the line shows what was charged.
  const [charges, chargebacks] = [addUsd(of("spent"), refunds), of("chargebacks")];
  const came = addUsd(addUsd(purchases, grants), refunds);
  const went = addUsd(charges, chargebacks);
  const drift = subUsd(subUsd(came, went), subUsd(addUsd(available, held), debt));
  return {
    purchases_usd: formatUsd(purchases),
    grants_usd: formatUsd(grants),
    refunds_usd: formatUsd(refunds),
    charges_usd: formatUsd(charges),
    chargebacks_usd: formatUsd(chargebacks),
    available_usd: formatUsd(available),
    held_usd: formatUsd(held),
    debt_usd: formatUsd(debt),
    drift_usd: formatUsd(drift),
    paid_workspace: of("purchased") > ZERO_USD,
    open_holds: numberOf(row["holds"]),
  };
}

function entryConditions({ clock }: BillingPorts, organizationId: string, query: LedgerQuery): Conditions {
  const { fromMs, toMs } = windowIfAsked(query, clock.nowMs());
  const conditions = new Conditions()
    .and("org_id = ?", organizationId)
    .also("slot = 0")
    .and("version < ?", query.cursor === undefined ? undefined : numberedCursor(query.cursor))
    .and("at >= ?", fromMs)
    .and("at < ?", toMs)
    .and("kind = ?", query.kind);
  if (query.holds !== "true" && query.kind === undefined)
    conditions.also(`kind NOT IN (${HOLD_MOVES.map((kind) => `'${kind}'`).join(", ")})`);
  return conditions;
}

function entryOf(row: SqlRow): Entry {
  const of = (name: string): NanoUsd => moneyOf(row[name]);
  const before = addUsd(of("available_before"), of("held_before"));
  const after = addUsd(of("available_after"), of("held_after"));
  const kind = textOf(row["kind"]) as Entry["kind"];
  return {
    n: numberOf(row["version"]),
    at: time(row["at"]),
    kind,
    // What moves between available and held changes nothing that the organization owns: its size is shown.
    amount_usd: formatUsd(HOLD_MOVES.includes(kind) ? of("amount") : subUsd(after, before)),
    available_usd: formatUsd(of("available_after")),
    held_usd: formatUsd(of("held_after")),
    balance_usd: formatUsd(after),
    reference: referenceOf(orNull(row["reference"], textOf)),
    requests: numberOf(row["requests"]),
    hash: Buffer.from(row["hash"] as Uint8Array).toString("hex"),
  };
}

/** A top-up's is JSON of `[source, externalId]`. */
function referenceOf(reference: string | null): string | null {
  if (reference?.startsWith("[") !== true) return reference;
  const parts = JSON.parse(reference) as unknown[];
  return parts.filter((part) => typeof part === "string").join(": ");
}

export const topUpOf = (row: SqlRow): TopUp => {
  const kind = textOf(row["kind"]) as TopUp["kind"];
  const amount = moneyOf(row["amount"]);
  return {
    at: time(row["at"]),
    kind,
    amount_usd: formatUsd(kind === "chargeback" ? subUsd(ZERO_USD, amount) : amount),
    source: textOf(row["source"]),
    reference: textOf(row["external_id"]),
    balance_after_usd: formatUsd(moneyOf(row["balance_after"])),
  };
};
