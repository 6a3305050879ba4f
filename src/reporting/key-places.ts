// Finds the keys of an organization for a page, by creation: only their places. Live keys are found through
// the index of live keys, however many have been revoked.
import { type Expression, type ExpressionBuilder, sql as fragment, type SqlBool } from "kysely";
import type { KeysAsk } from "../api/shapes/keys.ts";
import { from, isPart, rowsOf, when } from "../store/query.ts";
import { NEWEST } from "../store/page.ts";
import type { Sql } from "../store/sql.ts";
import type { Tables } from "../store/tables.ts";

/** A key's place in the list: its creation time, then its id. */
export interface KeyPlace {
  id: string;
  atMs: number;
}

/** Where the first page starts. */
export const FIRST_KEY = { newest: NEWEST, oldest: { atMs: -1, id: "" } } as const;

interface Wanted extends KeysAsk {
  order: keyof typeof FIRST_KEY;
  /** Created by one of these people; default: by anybody. */
  makers?: readonly string[] | undefined;
  after: KeyPlace;
  most: number;
  nowMs: number;
}

/** A damaged time counts as the oldest: it hides nothing, and each page still has a next one. */
const MADE_AT = fragment<bigint>`CASE WHEN created_at BETWEEN 0 AND 9007199254740990 THEN created_at ELSE 0 END`;

/** In the byte order in which the parts are merged below, not in the database's collation. */
const byBytes = ({ dialect }: Pick<Sql, "dialect">) =>
  dialect === "sqlite" ? fragment<string>`key_id` : fragment<string>`key_id COLLATE "C"`;

type Builder = ExpressionBuilder<Tables, "api_key">;
type Condition = Expression<SqlBool>;

/**
 * The keys after `after`. Callers that read the keys must still check the exact case of the model, and states
 * that only the ledger knows (at a limit or not).
 */
export async function keyPlaces(sql: Sql, organizationId: string, wanted: Wanted): Promise<KeyPlace[]> {
  const { after, most, nowMs, model, scope, search = "", state = "all", makers, order } = wanted;
  const id = byBytes(sql);
  const [beyond, way] = order === "newest" ? (["<", "desc"] as const) : ([">", "asc"] as const);
  const where = (eb: Builder): Condition[] => [
    eb("org_id", "=", organizationId),
    eb.or([
      eb(MADE_AT, beyond, BigInt(after.atMs)),
      eb.and([eb(MADE_AT, "=", BigInt(after.atMs)), eb(id, beyond, after.id)]),
    ]),
    ...when(scope, (one) => eb("scope", "=", one)),
    ...when(model, (one) => mayUse(eb, one)),
    ...when(search === "" ? undefined : search, (text) => isLike(eb, text)),
    ...when(makers, (some) => madeBy(eb, some)),
  ];
  const part = (of: (eb: Builder) => Condition[]) =>
    from
      .selectFrom("api_key")
      .where((eb) => eb.and([...where(eb), ...of(eb)]))
      .select(["key_id", MADE_AT.as("at")])
      .orderBy("at", way)
      .orderBy(id, way)
      .limit(most);
  const parts = PARTS[state](nowMs).map(part);
  // Each part uses its own index; a revoked key is no longer paused, so none is in two parts.
  const rows = (await Promise.all(parts.map((query) => rowsOf(sql, query)))).flat();
  return rows
    .map(({ key_id: id, at }) => ({ id, atMs: Number(at) }))
    .toSorted((a, b) => (order === "newest" ? -1 : 1) * (a.atMs - b.atMs || (a.id < b.id ? -1 : 1)))
    .slice(0, most);
}

type Part = (eb: Builder) => Condition[];

const unended: Part = (eb) => [eb("revoked_at", "is", null)];
const paused: Part = (eb) => [eb("paused_at", "is not", null)];
const ended: Part = (eb) => [eb("revoked_at", "is not", null), eb("paused_at", "is", null)];
const notYet =
  (nowMs: number): Part =>
  (eb) => [eb.or([eb("expires_at", "is", null), eb("expires_at", ">", BigInt(nowMs))])];
const expired =
  (nowMs: number): Part =>
  (eb) => [eb("expires_at", "<=", BigInt(nowMs))];
/** It had expired before somebody ended it: the same rule as `keyState`. */
const endedLate: Part = (eb) => [...ended(eb), eb("revoked_at", ">=", eb.ref("expires_at"))];
const endedEarly: Part = (eb) => [
  ...ended(eb),
  eb.or([eb("expires_at", "is", null), eb("revoked_at", "<", eb.ref("expires_at"))]),
];
const both =
  (...all: Part[]): Part =>
  (eb) =>
    all.flatMap((one) => one(eb));
const working = (nowMs: number): Part[] => [both(unended, notYet(nowMs))];

const PARTS: Record<NonNullable<KeysAsk["state"]>, (nowMs: number) => Part[]> = {
  all: () => [() => []],
  not_over: (nowMs) => [both(unended, notYet(nowMs)), both(paused, notYet(nowMs))],
  usable: working,
  active: working,
  blocked_by_limit: working,
  paused: (nowMs) => [both(paused, notYet(nowMs))],
  expired: (nowMs) => [both(unended, expired(nowMs)), both(paused, expired(nowMs)), endedLate],
  revoked: () => [endedEarly],
};

/** The list is JSON: the model is searched as JSON writes it. */
const mayUse = (eb: Builder, model: string): Condition =>
  eb.or([eb("allowed_models", "is", null), isPart(eb.ref("allowed_models"), JSON.stringify(model))]);

const SEEN_BY = ["name", "prefix", "last_four", "key_id"] as const;
/** A part of its name, or of the visible part of the key. */
const isLike = (eb: Builder, text: string): Condition =>
  eb.or(SEEN_BY.map((column) => isPart(eb.ref(column), text)));

/** A literal, because the index of these lines is partial. */
const KEY_CREATED = fragment.lit("key.create");
const madeBy = (eb: Builder, makers: readonly string[]): Condition =>
  eb.exists(
    eb
      .selectFrom("audit_log")
      .select("audit_log.target")
      .whereRef("audit_log.target", "=", "api_key.key_id")
      .where("audit_log.action", "=", KEY_CREATED)
      .where("audit_log.actor", "in", makers.length === 0 ? [""] : makers),
  );

/** How many have been revoked, and how many have expired. */
export async function keysOver(
  sql: Sql,
  organizationId: string,
  nowMs: number,
): Promise<{ revoked: number; expired: number }> {
  const count = async (part: Part): Promise<number> => {
    const query = from
      .selectFrom("api_key")
      .where((eb) => eb.and([eb("org_id", "=", organizationId), ...part(eb)]))
      .select((eb) => eb.fn.countAll<bigint>().as("counted"));
    return Number((await rowsOf(sql, query))[0]?.counted ?? 0);
  };
  const all = await Promise.all(PARTS.expired(nowMs).map(count));
  return { revoked: await count(endedEarly), expired: all.reduce((sum, one) => sum + one, 0) };
}
