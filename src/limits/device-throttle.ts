// How often logins of the command line may be asked for, and their short codes be tried. Counted in the store, so that
// another gateway or a restart forgives nobody. A try is written before it is counted: of many at once no more get
// through than one after the other.
import { Refusal } from "../domain/refusals.ts";
import type { Clock } from "../lib/clock.ts";
import { numberOf, type Sql } from "../store/sql.ts";

const MINUTE_MS = 60_000;
const TRIES_WITHIN_MS = 10 * MINUTE_MS;
/** Of codes by one person; an address may be that of a whole office. */
const TRIES = { person: 10, address: 30 };
const ASKS_A_MINUTE = 10;
/** That wait for a decision, of all addresses: what anybody may write into the store. */
const OPEN_AT_MOST = 1_000;

interface DeviceThrottle {
  /** Throws when this address, or everybody together, asks too often. */
  asks(address: string): Promise<void>;
  /** Throws when this person or this address tried too many codes. */
  tries(person: string, address: string): Promise<void>;
}

export function deviceThrottle({ sql, clock }: { sql: Sql; clock: Clock }): DeviceThrottle {
  const count = async (text: string, ...values: (string | number)[]): Promise<number> =>
    numberOf((await sql.rows(`SELECT count(*) AS found ${text}`, ...values))[0]?.["found"] ?? 0);
  const tried = (place: string, since: number): Promise<number> =>
    count("FROM device_try WHERE place = ?1 AND at > ?2", place, since);
  return {
    async asks(address) {
      const now = clock.nowMs();
      await sql.rows("DELETE FROM device_try WHERE at < ?1", now - TRIES_WITHIN_MS);
      const recent = "FROM device_login WHERE address = ?1 AND asked_at > ?2";
      if ((await count(recent, address, now - MINUTE_MS)) >= ASKS_A_MINUTE)
        throw tooMany("Too many logins from this address. Wait a minute.", MINUTE_MS);
      const open = "FROM device_login WHERE state = 'open' AND expires_at > ?1";
      if ((await count(open, now)) >= OPEN_AT_MOST)
        throw tooMany("Too many logins wait for a decision. Try again in some minutes.", MINUTE_MS);
    },
    async tries(person, address) {
      const now = clock.nowMs();
      const since = now - TRIES_WITHIN_MS;
      const over = async (by: number): Promise<boolean> =>
        (await tried(person, since)) >= TRIES.person + by ||
        (await tried(address, since)) >= TRIES.address + by;
      const refused = tooMany("Too many codes were tried. Wait ten minutes.", TRIES_WITHIN_MS);
      if (await over(0)) throw refused;
      await sql.rows("INSERT INTO device_try (place, at) VALUES (?1, ?3), (?2, ?3)", person, address, now);
      if (await over(1)) throw refused;
    },
  };
}

const tooMany = (message: string, retryAfterMs: number): Refusal =>
  new Refusal("rate_limit_exceeded", message, { retryAfterMs });
