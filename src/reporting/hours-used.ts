// Reads roll-up hours for pages to sum. They are keyed by organization, key and model before the hour, so
// that SQLite would scan everything that an organization ever used to find its last day. There, each model of
// each key is found first, by seeks along the primary key, and then only the requested hours of each.
// PostgreSQL has a partition per month, and reads no other.
import { type Expression, type RawBuilder, sql as fragment } from "kysely";
import { exactTotal, from } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import type { Tables } from "../store/tables.ts";

/** Hours since the epoch; `behind` is the first hour after the span. */
interface Span {
  first: number;
  behind?: number | undefined;
}

/** The part of an organization's hours to read; default: all. */
interface Part {
  /** Only these keys: a few, because each is a parameter. */
  keys?: readonly string[] | undefined;
  model?: string | undefined;
}

/** The hours of one organization, or of the organization of the surrounding row. */
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

/** The hours of all organizations. */
export const hoursUsedByAll = (sql: Sql, span: Span) =>
  hoursOf(
    sql.dialect === "sqlite"
      ? bySeeks(fragment`SELECT org_id FROM organization`, {})
      : fragment`FROM usage_hour WHERE true`,
    span,
  );

type TokenColumn = "input_tokens" | "cached_tokens" | "cache_write_tokens" | "output_tokens";

/** The exact token sums of these hours, for `exact`: cached and written tokens are included in `input`. */
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

/** `found`: the SQL from its FROM on, ending in a WHERE that can be extended. */
const hoursOf = (found: Fragment, { first, behind }: Span) =>
  from.selectFrom(
    fragment<Tables["usage_hour"]>`(SELECT usage_hour.* ${found} AND hour >= ${BigInt(first)} ${
      behind === undefined ? NOTHING : fragment`AND hour < ${BigInt(behind)}`
    })`.as("usage_hour"),
  );

/**
 * Finds the smallest key of each organization and then each next one, and likewise the models of each key. A
 * CROSS JOIN keeps this order.
 */
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
