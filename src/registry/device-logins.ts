// Logins of the command line as rows, next to the management keys that result
// (docs/decisions/0015-device-login.md). All state is in the store: a code requested at one gateway can be
// approved at another and fetched at a third. Each step is one statement that requires the state it starts
// from, so of two concurrent callers one succeeds.
import { numberOf, orNull, type Sql, type SqlRow, type Statement, statement, textOf } from "../store/sql.ts";

export interface DeviceLogin {
  id: string;
  state: "open" | "approved" | "declined" | "fetched";
  host: string;
  version: string;
  /** The address that requested it. */
  address: string;
  askedAtMs: number;
  expiresAtMs: number;
  /** The id of the person. */
  decidedBy: string | null;
}

export interface NewDeviceLogin extends Omit<DeviceLogin, "state" | "decidedBy"> {
  /** Digest of the long code, which the terminal keeps. */
  deviceDigest: string;
  /** Digest of the short code, which a person types. */
  userDigest: string;
  /** The minimum between two polls. */
  intervalMs: number;
}

export async function openDeviceLogin(sql: Sql, login: NewDeviceLogin): Promise<void> {
  const { id, deviceDigest, userDigest, host, version, address, askedAtMs, expiresAtMs, intervalMs } = login;
  await sql.rows(
    `INSERT INTO device_login
       (id, device_digest, user_digest, state, host, version, address, asked_at, expires_at, interval_ms)
     VALUES (?1, ?2, ?3, 'open', ?4, ?5, ?6, ?7, ?8, ?9)`,
    id,
    deviceDigest,
    userDigest,
    host,
    version,
    address,
    askedAtMs,
    expiresAtMs,
    intervalMs,
  );
}

/**
 * Null if there is no such login, or if the last poll was less than its interval before `nowMs`, with
 * `earlyMs` of tolerance.
 */
export const pollDeviceLogin = (
  sql: Sql,
  deviceDigest: string,
  { nowMs, earlyMs }: { nowMs: number; earlyMs: number },
): Promise<DeviceLogin | null> =>
  firstOf(
    sql.rows(
      `UPDATE device_login SET polled_at = ?2
       WHERE device_digest = ?1 AND (polled_at IS NULL OR polled_at <= ?2 - interval_ms + ?3) RETURNING *`,
      deviceDigest,
      nowMs,
      earlyMs,
    ),
  );

/** Increases the login's interval; false if there is none. */
export async function slowDeviceLogin(
  sql: Sql,
  deviceDigest: string,
  { nowMs, byMs }: { nowMs: number; byMs: number },
): Promise<boolean> {
  const slower = await sql.rows(
    `UPDATE device_login SET polled_at = ?2, interval_ms = interval_ms + ?3
     WHERE device_digest = ?1 RETURNING id`,
    deviceDigest,
    nowMs,
    byMs,
  );
  return slower.length > 0;
}

/** Marks an approved login as fetched and returns it; null for all others. */
export const fetchDeviceLogin = (sql: Sql, deviceDigest: string): Promise<DeviceLogin | null> =>
  firstOf(
    sql.rows(
      "UPDATE device_login SET state = 'fetched' WHERE device_digest = ?1 AND state = 'approved' RETURNING *",
      deviceDigest,
    ),
  );

/** The open login with a short code. */
export const findOpenDeviceLogin = (
  sql: Sql,
  userDigest: string,
  nowMs: number,
): Promise<DeviceLogin | null> =>
  firstOf(
    sql.rows(
      "SELECT * FROM device_login WHERE user_digest = ?1 AND state = 'open' AND expires_at > ?2",
      userDigest,
      nowMs,
    ),
  );

/** Null if it was decided before, or has expired. `told` is written only together with the decision. */
export async function decideDeviceLogin(
  sql: Sql,
  id: string,
  {
    state,
    personId,
    nowMs,
    told,
  }: {
    state: "approved" | "declined";
    personId: string;
    nowMs: number;
    told: (login: DeviceLogin) => readonly Statement[];
  },
): Promise<DeviceLogin | null> {
  const login = await firstOf(sql.rows("SELECT * FROM device_login WHERE id = ?1", id));
  if (login === null) return null;
  const deciding = statement(
    `UPDATE device_login SET state = ?2, decided_by = ?3
     WHERE id = ?1 AND state = 'open' AND expires_at > ?4`,
    id,
    state,
    personId,
    nowMs,
  );
  const decided = await sql.ifChanged(deciding, told(login));
  return decided ? { ...login, state, decidedBy: personId } : null;
}

/** Declines the logins that this person approved and no terminal has fetched yet. */
export async function declineUnfetched(sql: Sql, personId: string): Promise<void> {
  await sql.rows(
    "UPDATE device_login SET state = 'declined' WHERE decided_by = ?1 AND state = 'approved' RETURNING id",
    personId,
  );
}

/** Removes an open login to make room for another; its terminal is told that it no longer exists. */
export async function dropDeviceLogin(sql: Sql, id: string): Promise<void> {
  await sql.rows("DELETE FROM device_login WHERE id = ?1 AND state = 'open'", id);
}

export async function forgetDeviceLogins(sql: Sql, expiredBeforeMs: number): Promise<void> {
  await sql.rows("DELETE FROM device_login WHERE expires_at < ?1", expiredBeforeMs);
}

async function firstOf(rows: Promise<SqlRow[]>): Promise<DeviceLogin | null> {
  const [row] = await rows;
  return row === undefined ? null : deviceLoginOf(row);
}

const deviceLoginOf = (row: SqlRow): DeviceLogin => ({
  id: textOf(row["id"]),
  state: textOf(row["state"]) as DeviceLogin["state"],
  host: textOf(row["host"]),
  version: textOf(row["version"]),
  address: textOf(row["address"]),
  askedAtMs: numberOf(row["asked_at"]),
  expiresAtMs: numberOf(row["expires_at"]),
  decidedBy: orNull(row["decided_by"], textOf),
});
