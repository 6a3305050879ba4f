// What a connection keeps for as long as it is open: time limits, durability, a lock of its own. It is set by a statement, not
// as it connects: a pooler in session mode passes statements on, and knows few options. One in transaction mode lends the
// server's connections to others between two transactions; nothing of that would hold, so no gateway starts behind it
// (docs/decisions/0055-a-session-of-its-own.md).
import type { ClientBase, PoolConfig } from "pg";
import { randomBase62 } from "../lib/id.ts";
import { StoreFailure } from "./store-failure.ts";

/** A setting → its value, as the server reads them. */
export type SessionSettings = Readonly<Record<string, string>>;

/**
 * What every connection of ours depends on, whatever the server, the database or the role say of it: how values are written that
 * are read here, whether a commit is waited for, and whether one that no standby has confirmed is told of.
 */
const OURS: SessionSettings = {
  DateStyle: "ISO, MDY",
  TimeZone: "UTC",
  IntervalStyle: "postgres",
  bytea_output: "hex",
  extra_float_digits: "1",
  standard_conforming_strings: "on",
  array_nulls: "on",
  transform_null_equals: "off",
  client_min_messages: "notice",
  synchronous_commit: "on",
  default_transaction_isolation: "read committed",
  default_transaction_deferrable: "off",
  idle_session_timeout: "0",
};

/** Sets them, and what all connections keep, for as long as the connection is open. */
export async function keepSettings(client: ClientBase, settings: SessionSettings): Promise<void> {
  const entries = Object.entries({ ...OURS, ...settings });
  const setting = entries.map((_, at) => `set_config($${at * 2 + 1}, $${at * 2 + 2}, false)`);
  await client.query(`SELECT ${setting.join(", ")}`, entries.flat());
}

type OnConnect = NonNullable<PoolConfig["onConnect"]>;

/** For each connection of a pool; the pool waits for it before anybody gets the connection, whatever its types say. */
export function keepingSettings(settings: SessionSettings): OnConnect {
  const keep: (client: ClientBase) => unknown = (client) => keepSettings(client, settings);
  return keep as OnConnect;
}

/** A word that a session writes to itself; it means nothing to the server. */
const MARK = "tollgate.session";
/** A pooler without a connection to lend would have a start wait for minutes. */
const MARKED = { query_timeout: 5_000 };

/**
 * Throws `StoreFailure` unless each of the two connections has the server's session for itself. Each writes its own mark
 * into its session; a connection that is lent anew for each transaction finds another one there, or none, in whatever
 * order it is lent.
 */
export async function assertOwnSessions(one: ClientBase, other: ClientBase): Promise<void> {
  const mark = async (client: ClientBase): Promise<() => Promise<boolean>> => {
    const own = randomBase62(16);
    await client.query({ ...MARKED, text: `SELECT set_config('${MARK}', '${own}', false)` });
    return async () => {
      const { rows } = await client.query<{ found: string | null }>({
        ...MARKED,
        text: `SELECT current_setting('${MARK}', true) AS found`,
      });
      return rows[0]?.found === own;
    };
  };
  const [foundByOne, foundByOther] = [await mark(one), await mark(other)];
  // The one that wrote last reads first: in turns it is given what the other one had.
  if (!(await foundByOther()) || !(await foundByOne()))
    throw new StoreFailure(
      "pooled",
      "is behind a pooler that lends its connections for one transaction at a time: time limits and locks of a session would be lost; name the server itself in DATABASE_URL, or a pooler in session mode",
    );
}
