// Describes a PostgreSQL database without changing it, for `doctor` and `db`, which must know before anything starts.
import type pg from "pg";
import { NEWEST_SCHEMA as newestSchema } from "./migrations/list.ts";
import { assertTakesEveryText } from "./postgres-encoding.ts";
import { type DatabaseSetting, openingFailure } from "./postgres-error.ts";
import { assertMigrates } from "./postgres-migrate.ts";
import { assertMayMake } from "./postgres-rights.ts";
import { assertOwnSessions } from "./postgres-session.ts";
import { assertDataKey, connectBare, type Mover } from "./postgres.ts";
import { directoryRefusal } from "./private-file.ts";

export interface Inspection {
  /** For example `18.4`. */
  server: string;
  /** 0: nothing of ours is in it yet. */
  schema: number;
  /** The schema that this program would bring it to. */
  newestSchema: number;
  /** The number of gateways with a valid lease. */
  gateways: number;
  /** Requests that wait for an operator, as `req_… (why)`, oldest first. */
  quarantined: string[];
  /** Organizations whose paid calls are refused, sorted by id. */
  stopped: string[];
}

export interface InspectTerms {
  /** Of a gateway, or of a store that moves: whether it would open the database is found out, too. */
  dataDirectory?: string | null;
  named?: DatabaseSetting;
  /** A move, which has more to ask. */
  mover?: Pick<Mover, "id" | "check"> | null;
}

/**
 * Throws `StoreFailure` if the database cannot be reached; given a data directory, also if a gateway would not
 * start on it, or the move would be refused, with that message.
 */
export async function inspectPostgres(
  url: string,
  { dataDirectory = null, named = "DATABASE_URL", mover = null }: InspectTerms = {},
): Promise<Inspection> {
  let client: pg.Client | null = null;
  let other: pg.Client | null = null;
  try {
    const refusal = dataDirectory === null ? null : directoryRefusal(dataDirectory);
    if (refusal !== null) throw refusal;
    client = await connectBare(url, "inspect");
    other = await connectBare(url, "inspect");
    await assertOwnSessions(client, other, named);
    await assertTakesEveryText(client);
    await assertMayMake(client, named);
    if (dataDirectory !== null) await assertOpens(client, dataDirectory, mover);
    await client.query("BEGIN READ ONLY");
    const number = async (sql: string): Promise<number> => Number((await first(client, sql)) ?? 0);
    const server = String(await first(client, "SHOW server_version")).split(" ")[0] ?? "";
    const made = (await first(client, "SELECT to_regclass('schema_migration')")) !== null;
    const schema = made
      ? await number(
          `SELECT max(version) FROM schema_migration WHERE version BETWEEN 0 AND ${newestSchema + 10_000}`,
        )
      : 0;
    const gateways =
      schema === 0
        ? 0
        : await number(
            "SELECT count(*) FROM instance WHERE lease_until > (extract(epoch FROM clock_timestamp()) * 1000)::bigint",
          );
    const held = await first(client, "SELECT to_regclass('quarantine')");
    const quarantined = held === null ? [] : await quarantinedIn(client);
    const stops = await first(client, "SELECT to_regclass('stopped_organization')");
    const stopped = stops === null ? [] : await stoppedIn(client);
    return { server, schema, newestSchema, gateways, quarantined, stopped };
  } catch (error) {
    throw openingFailure(error, url, named);
  } finally {
    await Promise.all([client?.end(), other?.end()]);
  }
}

/** Begins like a start, then rolls back. */
async function assertOpens(
  client: pg.Client,
  dataDirectory: string,
  mover: InspectTerms["mover"],
): Promise<void> {
  await client.query("BEGIN");
  try {
    await assertMigrates(client, mover?.id ?? null);
    const made = (await first(client, "SELECT to_regclass('store_state')")) !== null;
    await assertDataKey(made ? client : null, dataDirectory);
    await mover?.check(client);
  } finally {
    await client.query("ROLLBACK").catch(() => {}); // the connection is gone with its transaction
  }
}

async function quarantinedIn(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<[string]>({
    text: `SELECT q.request_id || ' (' || q.reason || ')' FROM quarantine q
           JOIN request r ON r.org_id = q.org_id AND r.request_id = q.request_id
           WHERE q.decided_at IS NULL AND r.closed_txn IS NULL ORDER BY q.since`,
    rowMode: "array",
  });
  return rows.map(([said]) => said);
}

async function stoppedIn(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<[string]>({
    text: "SELECT org_id FROM stopped_organization WHERE since IS NOT NULL ORDER BY org_id",
    rowMode: "array",
  });
  return rows.map(([org]) => org);
}

async function first(client: pg.Client | null, sql: string): Promise<unknown> {
  const result = await client?.query<unknown[]>({ text: sql, rowMode: "array" });
  return result?.rows[0]?.[0] ?? null;
}
