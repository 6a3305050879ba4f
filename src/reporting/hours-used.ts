// Hours of the roll-ups that a page adds up. They are keyed by organization, key and model before their hour, so that SQLite would
// walk through all that an organization ever used to find its last day. There, each model of each key is looked up first, by
// seeks along the primary key, and of each only the hours asked for. PostgreSQL keeps a partition for each month, and looks
// into no other.
import { type Expression, type RawBuilder, sql as fragment } from "kysely";
import { exactTotal, from } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import type { Tables } from "../store/tables.ts";

/** Hours since the epoch; `behind` is the first one after them. */
interface Span {
  first: number;
  behind?: number | undefined;
}

/** What of an organization: all of it, but for what is named. */
interface Part {
  /** Of these keys alone: a few, each is a parameter. */
  keys?: readonly string[] | undefined;
  model?: string | undefined;
}

/** Of one organization, or of the one of the row around it. */
export const hoursUsed = (
  sql: Sql,
  organization: string | Expression<string>,
  { keys, model, ...span }: Span & Part,
) =>
  hoursOf(
    sql.dialect === "sqlite"
      ? bySeeks(fragment`SELECT ${organization}`, { keys, model })
      : fragment`FROM usage_hour WHERE org_id = ${organization} ${amongKeys(keys)} ${ofModel(model)}`,
    span,
  );

/** Of all organizations. */
export const hoursUsedByAll = (sql: Sql, span: Span) =>
  hoursOf(
    sql.dialect === "sqlite"
      ? bySeeks(fragment`SELECT org_id FROM organization`, {})
      : fragment`FROM usage_hour WHERE true`,
    span,
  );

type TokenColumn = "input_tokens" | "cached_tokens" | "cache_write_tokens" | "output_tokens";

/** The exact sums of what was used in these hours, for `exact`: cached and written tokens are among `input`. */
export const tokensUsed = (eb: { ref(column: TokenColumn): Expression<bigint> }) =>
  [
    exactTotal(eb.ref("input_tokens")).as("input"),
    exactTotal(eb.ref("cached_tokens")).as("cached"),
    exactTotal(eb.ref("cache_write_tokens")).as("written"),
    exactTotal(eb.ref("output_tokens")).as("output"),
  ] as const;

type Fragment = RawBuilder<unknown>;
const NOTHING: Fragment = fragment``;

const amongKeys = (keys: Part["keys"]): Fragment =>
  keys === undefined ? NOTHING : fragment`AND key_id IN (${fragment.join(keys)})`;
const ofModel = (model: Part["model"]): Fragment =>
  model === undefined ? NOTHING : fragment`AND model = ${model}`;

/** `found`: from its FROM on, with a WHERE that goes on. */
const hoursOf = (found: Fragment, { first, behind }: Span) =>
  from.selectFrom(
    fragment<Tables["usage_hour"]>`(SELECT usage_hour.* ${found} AND hour >= ${BigInt(first)} ${
      behind === undefined ? NOTHING : fragment`AND hour < ${BigInt(behind)}`
    })`.as("usage_hour"),
  );

/** The least key of each organization and each next one, and of each key the models likewise. A CROSS JOIN keeps this order. */
const bySeeks = (organizations: Fragment, { keys, model }: Part): Fragment => fragment`
  FROM (
    WITH RECURSIVE
      org (id) AS (${organizations}),
      key (org, id) AS (${keys === undefined ? KEYS : named(keys)}),
      used (org, key, model) AS (${model === undefined ? MODELS : fragment`SELECT org, id, ${model} FROM key`})
    SELECT org, key, model FROM used) AS used
  CROSS JOIN usage_hour
  WHERE usage_hour.org_id = used.org AND usage_hour.key_id = used.key AND usage_hour.model = used.model`;

const named = (keys: readonly string[]): Fragment =>
  fragment`SELECT org.id, named.column1 FROM org CROSS JOIN (VALUES ${fragment.join(keys.map((key) => fragment`(${key})`))}) AS named`;

const KEYS: Fragment = fragment`
  SELECT id, (SELECT min(f.key_id) FROM usage_hour f WHERE f.org_id = org.id) FROM org
  UNION ALL
  SELECT org, (SELECT min(n.key_id) FROM usage_hour n WHERE n.org_id = key.org AND n.key_id > key.id)
  FROM key WHERE id IS NOT NULL`;

const MODELS: Fragment = fragment`
  SELECT org, id, (SELECT min(f.model) FROM usage_hour f WHERE f.org_id = key.org AND f.key_id = key.id)
  FROM key WHERE id IS NOT NULL
  UNION ALL
  SELECT org, key, (SELECT min(n.model) FROM usage_hour n
    WHERE n.org_id = used.org AND n.key_id = used.key AND n.model > used.model)
  FROM used WHERE model IS NOT NULL`;
