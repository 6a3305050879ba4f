// The statements that load a batch: each reads all the rows asked for, with a variant for a single row.
import { selected } from "../column-loads.ts";
import { LOAD } from "../columns.ts";
import { spendBesideKey } from "../key-spend.ts";
import { DATABASE_NOW, owns } from "./lease.ts";
import { byRows, type ByRows, parameterRows } from "./query.ts";

/** Selects each row with the clock as read after that row was locked: the latest of them was read after all locks. */
const balances =
  (lock: "FOR UPDATE" | "", beside: string) =>
  (_: string, rows: "many" | "one"): string =>
    `WITH balance AS MATERIALIZED (
       SELECT ${selected(LOAD.balance, "b")} FROM org_balance b
       WHERE b.org_id = ${rows === "many" ? "ANY($1::text[])" : "$1::text"} AND b.slot = 0 ORDER BY b.org_id ${lock})
     SELECT balance.*, ${DATABASE_NOW}${beside} FROM balance`;

/** The month joined to its key or request; null if the key has none yet. */
const KEY_MONTH = selected(LOAD.keyMonth, "m");

/** `columns`, all of type text, are the parameters, named `asked`. */
const reading = (
  name: string,
  columns: string,
  text: (asked: string, rows: "many" | "one") => string,
): ByRows => {
  const named = columns.split(" ").map((column) => [column, "text"] as const);
  return byRows(name, (rows) => text(parameterRows(rows, "asked", named), rows));
};

export const READ = {
  /** Also selects whether the epoch may admit. */
  lockedBalances: reading("locked_balances", "org_id", balances("FOR UPDATE", `, ${owns("$2::bigint")}`)),
  balances: reading("balances", "org_id", balances("", "")),
  keys: reading(
    "keys",
    "org_id key_id",
    (asked) => `SELECT ${selected(LOAD.key, "k")}, ${KEY_MONTH}
     FROM ${asked}
     JOIN api_key k ON k.org_id = asked.org_id AND k.key_id = asked.key_id
     LEFT JOIN key_month m ON m.org_id = k.org_id AND m.key_id = k.key_id AND m.month = ANY($3::text[])`,
  ),
  keyMonths: reading(
    "key_months",
    "org_id key_id month",
    (asked) => `SELECT ${KEY_MONTH}
     FROM ${asked}
     JOIN key_month m ON m.org_id = asked.org_id AND m.key_id = asked.key_id AND m.month = asked.month`,
  ),
  keySpends: reading(
    "key_spends",
    "org_id key_id",
    (asked) => `SELECT k.org_id, k.key_id, spend.days, spend.holds FROM ${asked}
     JOIN api_key k ON k.org_id = asked.org_id AND k.key_id = asked.key_id
     CROSS JOIN LATERAL (${spendBesideKey("$3")}) spend`,
  ),
  claims: reading(
    "claims",
    "org_id key_id idem_key",
    (asked) => `SELECT ${selected(LOAD.claim, "c")}, ${selected(LOAD.claiming, "r")},
       EXISTS (SELECT 1 FROM result x WHERE x.org_id = c.org_id AND x.request_id = c.request_id),
       r.closed_txn IS NULL AND EXISTS (SELECT 1 FROM quarantine q
         WHERE q.org_id = c.org_id AND q.request_id = c.request_id AND q.decided_at IS NULL)
     FROM ${asked}
     JOIN claim c ON c.org_id = asked.org_id AND c.key_id = asked.key_id AND c.idem_key = asked.idem_key
     LEFT JOIN request r ON r.org_id = c.org_id AND r.request_id = c.request_id`,
  ),
  requests: reading(
    "requests",
    "org_id request_id",
    (asked) => `SELECT ${selected(LOAD.request, "r")}, ${KEY_MONTH}
     FROM ${asked}
     JOIN request r ON r.org_id = asked.org_id AND r.request_id = asked.request_id
     LEFT JOIN key_month m ON m.org_id = r.org_id AND m.key_id = r.key_id AND m.month = r.month`,
  ),
  entitlements: reading(
    "entitlements",
    "org_id model",
    (asked) => `SELECT ${selected(LOAD.entitlement, "e")}
     FROM ${asked}
     CROSS JOIN LATERAL (
       SELECT * FROM entitlement
       WHERE org_id = asked.org_id AND model = asked.model AND state = 'active' AND expires_at IS NOT NULL
       ORDER BY expires_at DESC LIMIT 1) e`,
  ),
  routes: reading(
    "routes",
    "route",
    (asked) => `SELECT ${selected(LOAD.routeState, "s")}, ${selected(LOAD.routeRelease, "r")}
     FROM ${asked} JOIN route_state s ON s.route = asked.route
     JOIN route_release r ON r.route = s.route AND r.version = s.highest_version`,
  ),
  topUps: reading(
    "top_ups",
    "org_id source external_id",
    (asked) => `SELECT ${selected(LOAD.topUp, "t")}
     FROM ${asked}
     JOIN topup t ON t.org_id = asked.org_id AND t.source = asked.source AND t.external_id = asked.external_id`,
  ),
  reversals: reading(
    "reversals",
    "org_id source external_id",
    (asked) => `SELECT ${selected(LOAD.reversal, "r")}
     FROM ${asked}
     JOIN reversal r ON r.org_id = asked.org_id AND r.source = asked.source AND r.external_id = asked.external_id`,
  ),
  quarantined: reading(
    "quarantined",
    "org_id request_id",
    (asked) => `SELECT q.org_id, q.request_id FROM ${asked}
     JOIN quarantine q ON q.org_id = asked.org_id AND q.request_id = asked.request_id AND q.decided_at IS NULL`,
  ),
  refundables: reading(
    "refundables",
    "org_id request_id",
    (asked) => `SELECT ${selected(LOAD.refundable, "r")},
       (SELECT least(coalesce(sum(v.amount), 0), 9223372036854775807)::bigint FROM reversal v
         WHERE v.org_id = r.org_id AND v.kind = 'refund' AND v.target = r.request_id)
     FROM ${asked}
     JOIN request r ON r.org_id = asked.org_id AND r.request_id = asked.request_id AND r.state = 'settled'`,
  ),
};
