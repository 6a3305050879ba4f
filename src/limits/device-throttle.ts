// Limits how often command-line logins may be requested and their short codes tried. Counts are kept in the store, so that neither
// another gateway nor a restart resets them. A try is written before tries are counted, so concurrent tries cannot exceed the
// limit.
import { MINUTE_MS } from "../domain/durations.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Clock } from "../lib/clock.ts";
import { networkOf } from "../lib/networks.ts";
import { numberOf, type Sql, textOf } from "../store/sql.ts";

const TRIES_WITHIN_MS = 10 * MINUTE_MS;
/** Code tries allowed for each person and each address; a whole office may share an address. */
const TRIES = { person: 10, address: 30 };
const ASKS_A_MINUTE = 10;
/** Logins waiting for a decision, from all networks: bounds what anybody may write into the store. */
const OPEN_AT_MOST = 1_000;

interface OpenLogin {
  id: string;
  address: string;
}

interface DeviceThrottle {
  /** Throws if this address's network asks too often. Returns the waiting logins that have to make room. */
  asks(address: string): Promise<string[]>;
  /** Throws if this person or this address's network tried too many codes. */
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
      const recent = await sql.rows(
        "SELECT address, count(*) AS found FROM device_login WHERE asked_at > ?1 GROUP BY address",
        now - MINUTE_MS,
      );
      const network = networkOf(address);
      let asked = 0;
      for (const row of recent)
        if (networkOf(textOf(row["address"])) === network) asked += numberOf(row["found"]);
      if (asked >= ASKS_A_MINUTE)
        throw tooMany("Too many logins from this address. Wait a minute.", MINUTE_MS);
      const open = "FROM device_login WHERE state = 'open' AND expires_at > ?1";
      if ((await count(open, now)) < OPEN_AT_MOST) return [];
      const waiting = await sql.rows(`SELECT id, address ${open} ORDER BY asked_at, id`, now);
      return makingRoom(waiting.map((row) => ({ id: textOf(row["id"]), address: textOf(row["address"]) })));
    },
    async tries(by, from) {
      const now = clock.nowMs();
      const [person, address] = [`person ${by}`, `address ${networkOf(from)}`];
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

/** Drops the oldest logins of the sites that have the most. An IPv6 site has 65,536 networks, so IPv6 counts by site. */
function makingRoom(oldestFirst: readonly OpenLogin[]): string[] {
  const bySite = Map.groupBy(oldestFirst, ({ address }) => networkOf(address, 48));
  const dropped: string[] = [];
  while (oldestFirst.length - dropped.length >= OPEN_AT_MOST) {
    const most = [...bySite.values()].reduce((one, other) => (other.length > one.length ? other : one));
    const oldest = most.shift();
    if (oldest === undefined) break;
    dropped.push(oldest.id);
  }
  return dropped;
}

const tooMany = (message: string, retryAfterMs: number): Refusal =>
  new Refusal("rate_limit_exceeded", message, { retryAfterMs });
