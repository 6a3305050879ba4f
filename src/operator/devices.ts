// Logins of the command line, and the management keys that result (RFC 8628,
// docs/decisions/0015-device-login.md): a code is requested by a terminal, approved by a person, and fetched
// once. Its rows are in src/registry/device-logins.ts.
import { DAY_MS } from "../domain/durations.ts";
import { createHash, randomBytes } from "node:crypto";
import type { From } from "../domain/actor.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
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
import { auditLine } from "../store/audit-log.ts";
import type { Sql } from "../store/sql.ts";
import { deviceThrottle } from "../limits/device-throttle.ts";
import { printTime } from "../domain/print.ts";
import {
  decideDeviceLogin,
  type DeviceLogin,
  dropDeviceLogin,
  fetchDeviceLogin,
  findOpenDeviceLogin,
  forgetDeviceLogins,
  openDeviceLogin,
  pollDeviceLogin,
  slowDeviceLogin,
} from "../registry/device-logins.ts";
import { createManagementKey } from "../registry/management-keys.ts";

export interface DevicesPorts {
  sql: Sql;
  clock: Clock;
  ledger: Transactions;
  people: Pick<People, "persons">;
  /** The dashboard's URL, without a trailing slash. */
  url: string;
  intervalMs: number;
}

export interface Devices {
  ask(asked: { host: string; version: string; address: string | null }): Promise<DeviceCodeJson>;
  /** The only response that ever contains the secret. Throws `DeviceRefusal`. */
  fetch(deviceCode: string, from: From): Promise<DeviceTokenJson>;
  /** The open login of a code; tries are counted per person and per address. */
  find(userCode: string, by: { person: Person; address: string | null }): Promise<DeviceJson>;
  decide(
    id: string,
    decision: "approve" | "decline",
    by: { person: Person; from: From },
  ): Promise<DeviceJson>;
}

const OPEN_MS = 600_000;
/** The pause of a terminal between two polls. */
export const DEVICE_INTERVAL_MS = 5_000;
/** How long a late terminal can still learn the outcome of its login. */
const REMEMBERED_MS = 60 * 60_000;
/** How much clocks and networks may shorten the pause between two polls. */
const EARLY_MS = 500;
const KEY_DAYS = 30;
const KEY_MS = KEY_DAYS * DAY_MS;
/** No vowels, which form words, and no digits, which are mistaken for letters (RFC 8628 §6.1). */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";

export function devices(on: DevicesPorts): Devices {
  const { sql, clock } = on;
  const throttle = deviceThrottle(on);
  return {
    async ask({ host, version, address }) {
      const now = clock.nowMs();
      const from = address ?? "unknown";
      await forgetDeviceLogins(sql, now - REMEMBERED_MS);
      for (const id of await throttle.asks(from)) await dropDeviceLogin(sql, id);
      const deviceCode = `gw_dc_${randomBytes(32).toString("base64url")}`;
      const userCode = newUserCode();
      await openDeviceLogin(sql, {
        id: newId("dev"),
        deviceDigest: digestOf(deviceCode),
        userDigest: digestOf(userCode),
        host,
        version,
        address: from,
        askedAtMs: now,
        expiresAtMs: now + OPEN_MS,
        intervalMs: on.intervalMs,
      });
      const shown = `${userCode.slice(0, 4)}-${userCode.slice(4)}`;
      return {
        device_code: deviceCode,
        user_code: shown,
        verification_uri: deviceAddress(on.url),
        verification_uri_complete: deviceAddress(on.url, shown),
        expires_in: OPEN_MS / 1000,
        interval: on.intervalMs / 1000,
      };
    },
    async fetch(deviceCode, from) {
      const digest = digestOf(deviceCode);
      const now = clock.nowMs();
      const polled = await pollDeviceLogin(sql, digest, { nowMs: now, earlyMs: EARLY_MS });
      if (polled === null) throw await tooSoon(on, digest, now);
      if (polled.state === "declined") throw new DeviceRefusal("access_denied");
      if (polled.state === "fetched") throw new DeviceRefusal("invalid_grant");
      if (polled.expiresAtMs <= now) throw new DeviceRefusal("expired_token");
      if (polled.state === "open") throw new DeviceRefusal("authorization_pending");
      const fetched = await fetchDeviceLogin(sql, digest);
      if (fetched === null) throw new DeviceRefusal("invalid_grant");
      return await grant(on, fetched, from);
    },
    async find(userCode, { person, address }) {
      await throttle.tries(person.id, address ?? "unknown");
      const letters = userCode.toUpperCase().replaceAll(/[^A-Z]/g, "");
      const found = await findOpenDeviceLogin(sql, digestOf(letters), clock.nowMs());
      if (found !== null) return print(found, person);
      throw new OperatorRefusal(
        "not_found",
        "No login is waiting with this code. A code works once, within ten minutes. Check the letters, or run ./tollgate login again.",
        "user_code",
      );
    },
    async decide(id, decision, { person, from }) {
      const state = decision === "approve" ? "approved" : "declined";
      const nowMs = clock.nowMs();
      const decided = await decideDeviceLogin(sql, id, {
        state,
        personId: person.id,
        nowMs,
        told: ({ host, address, version }) => {
          const [action, after] = [`device.${decision}`, { host, address, version }];
          const actor = { id: person.id, ...from };
          return [auditLine({ actor, action, organizationId: null, target: id, after }, nowMs)];
        },
      });
      if (decided === null) throw tooLate();
      return print(decided, person);
    },
  };
}

const tooLate = (): OperatorRefusal =>
  new OperatorRefusal(
    "conflict",
    "This login was already approved or declined, or its ten minutes are over. Run ./tollgate login again.",
  );

/** Distinguishes a poll before its interval was over from an unknown code. */
async function tooSoon(
  { sql, intervalMs }: DevicesPorts,
  digest: string,
  nowMs: number,
): Promise<DeviceRefusal> {
  const slower = await slowDeviceLogin(sql, digest, { nowMs, byMs: intervalMs });
  return new DeviceRefusal(slower ? "slow_down" : "invalid_grant");
}

/** The person who approved may have lost the role since: the key is for operators. */
async function grant(on: DevicesPorts, fetched: DeviceLogin, from: From): Promise<DeviceTokenJson> {
  const [person] = fetched.decidedBy === null ? [] : await on.people.persons([fetched.decidedBy]);
  if (person?.operator !== true) throw new DeviceRefusal("access_denied");
  const id = newId("mk");
  const minted = mintManagementKey(id);
  const name = keyName(person, fetched.host);
  const login = { loginOf: person.id, livesMs: KEY_MS };
  const { expiresAtMs } = await createManagementKey(
    on.ledger,
    { id, name, prefix: minted.prefix, digest: minted.digest, ...login },
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

const print = (login: DeviceLogin, person: Person): DeviceJson => ({
  id: login.id,
  host: login.host,
  version: login.version,
  address: login.address,
  asked_at: printTime(login.askedAtMs),
  expires_at: printTime(login.expiresAtMs),
  state: login.state as DeviceJson["state"],
  key_name: keyName(person, login.host),
  key_days: KEY_DAYS,
});

const keyName = ({ name }: Person, host: string): string => `CLI of ${name} on ${host}`;

const digestOf = (code: string): string => createHash("sha256").update(code).digest("base64url");

/** Eight uniformly random letters. */
function newUserCode(): string {
  let code = "";
  while (code.length < 8)
    for (const byte of randomBytes(16))
      if (byte < 240 && code.length < 8) code += LETTERS[byte % LETTERS.length];
  return code;
}
