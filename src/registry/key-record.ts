// An API key: what it is, its limits, and what it has spent and holds in its month, week and day. Its last
// use is derived from its months, so that no request has to write it.
import { readAllowedModels } from "../domain/allowed-models.ts";
import type { Tier } from "../domain/gateway-object.ts";
import { type NanoUsd, nanoUsd, ZERO_USD } from "../domain/money.ts";
import { newestStampMs } from "../ledger/balance.ts";
import { type KeyLife, type KeyState, keyState } from "../ledger/decide/key.ts";
import {
  countsDays,
  type KeyLimits,
  type KeySpend,
  type NotedHold,
  type LimitedSpan,
  spansOf,
} from "../ledger/key-spans.ts";
import { notedHolds, spentByDay, weekFromHour } from "../ledger/key-spend.ts";
import { stampOf } from "../ledger/stamp.ts";
import { utcMonth } from "../lib/clock.ts";
import { sumColumn, sumOf } from "../store/exact-sum.ts";
import {
  ask,
  inHundreds,
  moneyOf,
  numberOf,
  orNull,
  placesFrom,
  type Query,
  type SqlRow,
  textOf,
} from "../store/sql.ts";

/** The settings of a key; null means no limit. */
export interface KeySettings extends KeyLimits {
  allowedModels: readonly string[] | null;
  maxOutputTokens: number | null;
  expiresAtMs: number | null;
}

export interface KeyRecord extends KeySettings {
  id: string;
  organizationId: string;
  name: string;
  /** The displayable part before the secret. */
  prefix: string;
  /** The last characters of the whole key; null for a key created before they were stored. */
  lastFour: string | null;
  scope: Tier;
  /** Figures of the current UTC month. */
  month: string;
  monthSpend: NanoUsd;
  held: NanoUsd;
  /** The spans that have a limit. */
  spans: readonly LimitedSpan[];
  state: KeyState;
  createdAtMs: number;
  lastUsedAtMs: number | null;
  pausedAtMs: number | null;
  /** Null while it is only paused. */
  revokedAtMs: number | null;
}

/** `?1` is the month. */
const SELECT_KEY = `
  SELECT k.key_id, k.org_id, k.name, k.prefix, k.last_four, k.digest, k.scope, k.limit_nano, k.created_at, k.revoked_at,
    k.paused_at, k.expires_at, k.day_limit_nano, k.week_limit_nano, k.allowed_models, k.max_output_tokens,
    (SELECT max(u.last_admitted_at) FROM key_month u WHERE u.org_id = k.org_id AND u.key_id = k.key_id) AS used_at,
    m.spent, m.held
  FROM api_key k LEFT JOIN key_month m ON m.org_id = k.org_id AND m.key_id = k.key_id AND m.month = ?1`;
const ONE_KEY = `${SELECT_KEY} WHERE k.org_id = ?2 AND k.key_id = ?3`;

/** Exactly these keys, however many the organization has; unordered. */
export function* readKeysNamed(
  organizationId: string,
  ids: readonly string[],
  nowMs: number,
): Query<KeyRecord[]> {
  const atMs = stampOf(nowMs, yield* newestStampMs(organizationId));
  const found: KeyRecord[] = [];
  for (const only of inHundreds(ids)) {
    const text = `${SELECT_KEY} WHERE k.org_id = ?2 AND k.key_id IN (${placesFrom(3, only)})`;
    const rows = yield* ask(text, [utcMonth(atMs), organizationId, ...only]);
    found.push(...(yield* recordsOf(rows, { organizationId, only, atMs, nowMs })));
  }
  return found;
}

/** The key with the row that it was read from. */
export function* readKey(
  { organizationId, keyId }: { organizationId: string; keyId: string },
  nowMs: number,
): Query<{ key: KeyRecord; row: SqlRow } | null> {
  const atMs = stampOf(nowMs, yield* newestStampMs(organizationId));
  const rows = yield* ask(ONE_KEY, [utcMonth(atMs), organizationId, keyId]);
  const [key] = yield* recordsOf(rows, { organizationId, only: [keyId], atMs, nowMs });
  const [row] = rows;
  return key === undefined || row === undefined ? null : { key, row };
}

interface Read {
  organizationId: string;
  /** At least one. */
  only: readonly string[];
  atMs: number;
  nowMs: number;
}

function* recordsOf(rows: readonly SqlRow[], read: Read): Query<KeyRecord[]> {
  const spends = rows.some((row) => countsDays(limitsOf(row))) ? yield* spendsOf(read) : null;
  return rows.map((row) => keyOf(row, spends?.get(textOf(row["key_id"])) ?? NOTHING_SPENT, read));
}

export const NOTHING_SPENT: KeySpend = { spent: new Map(), open: [] };

/** SQL condition for the named keys: `?2` is the first of them, the others start at `next`. */
const namedBy = (column: string, only: Read["only"], next: number): string =>
  `${column} IN (${["?2", placesFrom(next, only.slice(1))].filter(Boolean).join(", ")})`;
const daysOf = (only: Read["only"]) =>
  spentByDay(
    `SELECT org_id, key_id FROM api_key WHERE org_id = ?1 AND ${namedBy("key_id", only, 4)}
       AND (day_limit_nano IS NOT NULL OR week_limit_nano IS NOT NULL)`,
    sumColumn("u.charge", "charge"),
  );
const holdsOf = (only: Read["only"]): string => `${notedHolds("key_hold h")}
  WHERE h.org_id = ?1 AND ${namedBy("h.key_id", only, 3)} AND r.closed_txn IS NULL AND r.request_id IS NOT NULL`;

interface Spending extends KeySpend {
  spent: Map<number, NanoUsd>;
  open: NotedHold[];
}

/** What the keys with daily or weekly limits have spent. */
function* spendsOf({ organizationId, only, atMs }: Read): Query<Map<string, KeySpend>> {
  const [first = "", ...others] = only;
  const days = yield* ask(daysOf(only), [organizationId, first, weekFromHour(atMs), ...others]);
  return spendsIn(days, yield* ask(holdsOf(only), [organizationId, first, ...others]));
}

/** Spending by key, from rows of daily spending (`spentByDay`) and of open holds (`notedHolds`). */
export function spendsIn(days: readonly SqlRow[], holds: readonly SqlRow[]): Map<string, KeySpend> {
  const spends = new Map<string, Spending>();
  const spendOf = (row: SqlRow): Spending => {
    const id = textOf(row["key_id"]);
    const spend: Spending = spends.get(id) ?? { spent: new Map(), open: [] };
    spends.set(id, spend);
    return spend;
  };
  for (const row of days) spendOf(row).spent.set(numberOf(row["day"]), nanoUsd(sumOf(row, "charge")));
  for (const row of holds)
    spendOf(row).open.push({
      requestId: textOf(row["request_id"]),
      admittedAtMs: numberOf(row["admitted_at"]),
      hold: moneyOf(row["hold"]),
    });
  return spends;
}

/** The limits of a month, a day and a week in nano-USD; null for no limit. */
export const limitsOf = (row: SqlRow): KeyLimits => ({
  limit: orNull(row["limit_nano"], moneyOf),
  dayLimit: orNull(row["day_limit_nano"], moneyOf),
  weekLimit: orNull(row["week_limit_nano"], moneyOf),
});

/** Nano-USD; zero if the key has no row for that month yet. */
export const spentInMonth = (row: SqlRow): { spent: NanoUsd; held: NanoUsd } => ({
  spent: orNull(row["spent"], moneyOf) ?? ZERO_USD,
  held: orNull(row["held"], moneyOf) ?? ZERO_USD,
});

/** Times in milliseconds; null for what has not happened, or never will. */
export const lifeOf = (row: SqlRow): KeyLife => ({
  expiresAtMs: orNull(row["expires_at"], numberOf),
  pausedAtMs: orNull(row["paused_at"], numberOf),
  revokedAtMs: orNull(row["revoked_at"], numberOf),
});

function keyOf(row: SqlRow, spend: KeySpend, { atMs, nowMs }: Read): KeyRecord {
  const limits = limitsOf(row);
  const month = spentInMonth(row);
  const life = lifeOf(row);
  const state = keyState(life, nowMs);
  return {
    id: textOf(row["key_id"]),
    organizationId: textOf(row["org_id"]),
    name: textOf(row["name"]),
    prefix: textOf(row["prefix"]),
    lastFour: orNull(row["last_four"], textOf),
    scope: textOf(row["scope"]) as Tier,
    ...limits,
    allowedModels: orNull(row["allowed_models"], (kept) => readAllowedModels(textOf(kept))),
    maxOutputTokens: orNull(row["max_output_tokens"], numberOf),
    month: utcMonth(atMs),
    monthSpend: month.spent,
    held: month.held,
    spans: spansOf(limits, { month, spend, atMs }),
    state,
    createdAtMs: numberOf(row["created_at"]),
    lastUsedAtMs: orNull(row["used_at"], numberOf),
    ...life,
    revokedAtMs: state === "revoked" ? life.revokedAtMs : null,
  };
}
