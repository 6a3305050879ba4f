// The logins of `tollgate login`, one per gateway, in the user's configuration directory. No one else can read the
// file; it is always replaced as a whole.
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { messageOf } from "../src/domain/error-message.ts";
import { Problem, WrongUsage } from "./problem.ts";

export interface Login {
  /** A management key, gw_mk_…, and its id. */
  token: string;
  key: string;
  /** Who approved it. */
  person: string;
  expires_at: string;
}

/** Keyed by the gateway's address, as `addressOf` writes it. */
export type Logins = Readonly<Record<string, Login>>;

/** The user's `credentials.json`. */
export function credentialsFile(): string {
  const { env } = process;
  const given = env["XDG_CONFIG_HOME"];
  const home = given !== undefined && isAbsolute(given) ? given : join(env["HOME"] ?? homedir(), ".config");
  return join(home, "tollgate", "credentials.json");
}

/** The canonical form of a gateway's address: without `/v1` and without a trailing slash. */
export function addressOf(url: string): string {
  const base = url.replace(/\/+$/, "").replace(/\/v1$/, "");
  if (!URL.canParse(base) || !/^https?:/.test(base))
    throw new WrongUsage(`${url} is not a URL.`, "Give one like http://127.0.0.1:8080.");
  return new URL(base).href.replace(/\/+$/, "");
}

/** Throws `Problem` if others can read the file, or if it is damaged. */
export function readLogins(file = credentialsFile()): Logins {
  if (!existsSync(file)) return {};
  if ((statSync(file).mode & 0o077) !== 0)
    throw new Problem(
      `Other users can read ${file}.`,
      `chmod 600 ${file}, then log in again: it may have been read.`,
    );
  try {
    const { logins } = JSON.parse(readFileSync(file, "utf8")) as { logins?: unknown };
    if (typeof logins === "object" && logins !== null) return logins as Logins;
  } catch (error) {
    const reason = messageOf(error);
    throw new Problem(`${file} cannot be read: ${reason}`, "Correct or remove it, then ./tollgate login.");
  }
  throw new Problem(`${file} has no logins.`, "Remove it, then ./tollgate login.");
}

/** Stores the login for one gateway; null removes it. */
export function writeLogin(address: string, login: Login | null, file = credentialsFile()): void {
  const { [address]: _, ...others } = readLogins(file);
  const logins: Logins = login === null ? others : { ...others, [address]: login };
  makeRoom(file);
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify({ logins }, null, 2)}\n`, { mode: 0o600, flush: true });
  chmodSync(fresh, 0o600); // a file that already existed keeps its mode
  renameSync(fresh, file);
}

/** Creates the directory, before anyone is asked to approve a login that could not be stored. */
export function makeRoom(file = credentialsFile()): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  } catch (error) {
    const reason = messageOf(error);
    throw new Problem(
      `${dirname(file)} cannot be created: ${reason}`,
      "Set XDG_CONFIG_HOME to a directory of yours.",
    );
  }
}

/** The login for this gateway, or the only one there is; null if there is none. Throws if it has expired. */
export function findLogin(url: string | undefined): { address: string; login: Login } | null {
  const logins = readLogins();
  const addresses = Object.keys(logins);
  if (url === undefined && addresses.length > 1)
    throw new Problem(
      `You are logged in at several gateways: ${addresses.join(", ")}.`,
      "Name one with --url or TOLLGATE_URL.",
    );
  const address = url === undefined ? addresses[0] : addressOf(url);
  const login = address === undefined ? undefined : logins[address];
  return address === undefined || login === undefined ? null : { address, login };
}

/** Throws if the login has expired. */
export function assertOpen({ address, login }: { address: string; login: Login }): void {
  if (Date.parse(login.expires_at) > Date.now()) return;
  throw new Problem(
    `Your login at ${address} ended at ${login.expires_at}.`,
    `./tollgate login --url ${address}`,
  );
}
