// What a connection keeps for as long as it is open: time limits, durability, locks. It is set by a
// statement, not when connecting: a pooler in session mode passes statements on, but knows few options.
// One in transaction mode lends the server's connections to others between two transactions, which
// would lose all of that, so no gateway starts behind it (docs/decisions/0055-a-session-of-its-own.md).
import type { ClientBase, PoolConfig } from "pg";
import { randomBase62 } from "../lib/id.ts";
import type { DatabaseSetting } from "./postgres-error.ts";
import { StoreFailure } from "./store-failure.ts";

/** A setting → its value, as the server reads them. */
export type SessionSettings = Readonly<Record<string, string>>;

/**
 * Settings that every connection depends on, whatever the server, the database or the role say: the output format
 * of values, whether a commit is waited for, and whether a commit without confirmation by a standby is reported.
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

/** Applies these settings and those that all connections keep, for as long as the connection is open. */
export async function keepSettings(client: ClientBase, settings: SessionSettings): Promise<void> {
  const entries = Object.entries({ ...OURS, ...settings });
  const setting = entries.map((_, at) => `set_config($${at * 2 + 1}, $${at * 2 + 2}, false)`);
  await client.query(`SELECT ${setting.join(", ")}`, entries.flat());
}

type OnConnect = NonNullable<PoolConfig["onConnect"]>;

/** For each connection of a pool. The pool waits for it before handing out the connection, whatever its types say. */
export function keepingSettings(settings: SessionSettings): OnConnect {
  const keep: (client: ClientBase) => unknown = (client) => keepSettings(client, settings);
  return keep as OnConnect;
}

/** A setting that a session writes for itself; it means nothing to the server. */
const MARK = "tollgate.session";
/** A pooler without a connection to lend would delay a start for minutes. */
const MARKED = { query_timeout: 5_000 };

/**
 * Throws `StoreFailure` unless each of the two connections has the server's session for itself. Each
 * writes its own mark into its session; a connection that is lent separately for each transaction
 * finds another mark there, or none, in whatever order it is lent.
 */
export async function assertOwnSessions(
  one: ClientBase,
  other: ClientBase,
  named: DatabaseSetting,
): Promise<void> {
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
  // The one that wrote last reads first: taking turns, it gets the session that the other one had.
  if (!(await foundByOther()) || !(await foundByOne()))
    throw new StoreFailure(
      "pooled",
      "is behind a pooler in transaction mode, which would lose a session's timeouts and locks",
      `name the server itself in ${named}, or a pooler in session mode`,
    );
}
