// Logins of the command line, beside the management keys that come of them (RFC 8628, docs/decisions/0015-device-login.md).
// Everything is in the store: a code asked for at one gateway is approved at another one and fetched at a third. Each step
// is one statement that finds the state it needs, so of two who do it together one has done it.
import { createHash, randomBytes } from "node:crypto";
import type { From } from "../domain/actor.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import type { AuditNote } from "../domain/audit-note.ts";
import {
  DeviceRefusal,
  type DeviceCodeJson,
  type DeviceJson,
  type DeviceTokenJson,
} from "../api/shapes/devices.ts";
import { deviceAddress } from "../domain/links.ts";
import type { People, Person } from "../people/people.ts";
import { mintManagementKey } from "../registry/secret.ts";
import type { Transactions } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/id.ts";
import { numberOf, type Sql, type SqlRow, textOf } from "../store/sql.ts";
import { deviceThrottle } from "../limits/device-throttle.ts";
import { printTime } from "../domain/print.ts";
import { createManagementKey } from "../registry/management-keys.ts";

export interface DevicesPorts {
  sql: Sql;
  clock: Clock;
  ledger: Transactions;
  people: Pick<People, "persons">;
  /** Where people reach the dashboard, without a slash at the end. */
  url: string;
  note(note: AuditNote): Promise<void>;
}

export interface Devices {
  ask(asked: { host: string; version: string; address: string | null }): Promise<DeviceCodeJson>;
  /** The only answer that ever carries the secret. Throws `DeviceRefusal`. */
  fetch(deviceCode: string, from: From): Promise<DeviceTokenJson>;
  /** The login that waits under a code; tries are counted per person and per address. */
  find(userCode: string, by: { person: Person; address: string | null }): Promise<DeviceJson>;
  decide(
    id: string,
    decision: "approve" | "decline",
    by: { person: Person; from: From },
  ): Promise<DeviceJson>;
}

const OPEN_MS = 600_000;
const INTERVAL_MS = 5_000;
/** What a clock and a network may shorten between two polls. */
const EARLY_MS = 500;
const KEY_DAYS = 30;
const KEY_MS = KEY_DAYS * 86_400_000;
/** Neither vowels, which make words, nor digits, which are taken for letters (RFC 8628 §6.1). */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";

export function devices(on: DevicesPorts): Devices {
  const throttle = deviceThrottle(on);
  const row = async (text: string, ...values: (string | number)[]): Promise<SqlRow | null> =>
    (await on.sql.rows(text, ...values))[0] ?? null;
  return {
    async ask({ host, version, address }) {
      const now = on.clock.nowMs();
      const from = address ?? "unknown";
      await throttle.asks(from);
      const deviceCode = `gw_dc_${randomBytes(32).toString("base64url")}`;
      const userCode = newUserCode();
      await row(
        `INSERT INTO device_login
           (id, device_digest, user_digest, state, host, version, address, asked_at, expires_at, interval_ms)
         VALUES (?1, ?2, ?3, 'open', ?4, ?5, ?6, ?7, ?8, ?9)`,
        newId("dev"),
        digestOf(deviceCode),
        digestOf(userCode),
        host,
        version,
        from,
        now,
        now + OPEN_MS,
        INTERVAL_MS,
      );
      const shown = `${userCode.slice(0, 4)}-${userCode.slice(4)}`;
      return {
        device_code: deviceCode,
        user_code: shown,
        verification_uri: deviceAddress(on.url),
        verification_uri_complete: deviceAddress(on.url, shown),
        expires_in: OPEN_MS / 1000,
        interval: INTERVAL_MS / 1000,
      };
    },
    async fetch(deviceCode, from) {
      const digest = digestOf(deviceCode);
      const now = on.clock.nowMs();
      const polled = await row(
        `UPDATE device_login SET polled_at = ?2
         WHERE device_digest = ?1 AND (polled_at IS NULL OR polled_at <= ?2 - interval_ms + ${EARLY_MS}) RETURNING *`,
        digest,
        now,
      );
      if (polled === null) throw await tooSoon(on, digest, now);
      const state = textOf(polled["state"]);
      if (state === "declined") throw new DeviceRefusal("access_denied");
      if (state === "fetched") throw new DeviceRefusal("invalid_grant");
      if (numberOf(polled["expires_at"]) <= now) throw new DeviceRefusal("expired_token");
      if (state === "open") throw new DeviceRefusal("authorization_pending");
      const fetched = await row(
        "UPDATE device_login SET state = 'fetched' WHERE device_digest = ?1 AND state = 'approved' RETURNING *",
        digest,
      );
      if (fetched === null) throw new DeviceRefusal("invalid_grant");
      return await grant(on, fetched, from);
    },
    async find(userCode, { person, address }) {
      await throttle.tries(`person ${person.id}`, `address ${address ?? "unknown"}`);
      const found = await row(
        "SELECT * FROM device_login WHERE user_digest = ?1 AND state = 'open' AND expires_at > ?2",
        digestOf(userCode.toUpperCase().replaceAll(/[^A-Z]/g, "")),
        on.clock.nowMs(),
      );
      if (found !== null) return print(found, person);
      throw new OperatorRefusal(
        "not_found",
        "No login waits under this code. A code works once, for ten minutes: compare the letters, or run ./tollgate login again.",
        "user_code",
      );
    },
    async decide(id, decision, { person, from }) {
      const state = decision === "approve" ? "approved" : "declined";
      const decided = await row(
        `UPDATE device_login SET state = ?2, decided_by = ?3
         WHERE id = ?1 AND state = 'open' AND expires_at > ?4 RETURNING *`,
        id,
        state,
        person.id,
        on.clock.nowMs(),
      );
      if (decided === null)
        throw new OperatorRefusal("conflict", "This login was decided already, or its ten minutes are over.");
      const after = { host: decided["host"], address: decided["address"], version: decided["version"] };
      const action = `device.${decision}`;
      await on.note({ actor: { id: person.id, ...from }, action, organizationId: null, target: id, after });
      return print(decided, person);
    },
  };
}

/** The code exists and was asked for again before its interval was over; or there is no such code. */
async function tooSoon(on: DevicesPorts, digest: string, now: number): Promise<DeviceRefusal> {
  const slower = await on.sql.rows(
    `UPDATE device_login SET polled_at = ?2, interval_ms = interval_ms + ${INTERVAL_MS}
     WHERE device_digest = ?1 RETURNING id`,
    digest,
    now,
  );
  return new DeviceRefusal(slower.length > 0 ? "slow_down" : "invalid_grant");
}

/** Whoever approved may have been removed since: the key is for operators. */
async function grant(on: DevicesPorts, fetched: SqlRow, from: From): Promise<DeviceTokenJson> {
  const [person] = await on.people.persons([textOf(fetched["decided_by"])]);
  if (person?.operator !== true) throw new DeviceRefusal("access_denied");
  const id = newId("mk");
  const minted = mintManagementKey(id);
  const name = keyName(person, textOf(fetched["host"]));
  const login = { personId: person.id, livesMs: KEY_MS };
  const { expiresAtMs } = await createManagementKey(
    on.ledger,
    { id, name, prefix: minted.prefix, digest: minted.digest, login },
    { id: person.id, ...from },
  );
  return {
    access_token: minted.value,
    token_type: "Bearer",
    expires_in: KEY_MS / 1000,
    key: id,
    name,
    person: person.email,
    expires_at: printTime(expiresAtMs ?? on.clock.nowMs() + KEY_MS),
  };
}

const print = (row: SqlRow, person: Person): DeviceJson => ({
  id: textOf(row["id"]),
  host: textOf(row["host"]),
  version: textOf(row["version"]),
  address: textOf(row["address"]),
  asked_at: printTime(numberOf(row["asked_at"])),
  expires_at: printTime(numberOf(row["expires_at"])),
  state: textOf(row["state"]) as DeviceJson["state"],
  key_name: keyName(person, textOf(row["host"])),
  key_days: KEY_DAYS,
});

const keyName = ({ name }: Person, host: string): string => `CLI of ${name} on ${host}`;

const digestOf = (code: string): string => createHash("sha256").update(code).digest("base64url");

/** Eight letters, each as likely as any other. */
function newUserCode(): string {
  let code = "";
  while (code.length < 8)
    for (const byte of randomBytes(16))
      if (byte < 240 && code.length < 8) code += LETTERS[byte % LETTERS.length];
  return code;
}
