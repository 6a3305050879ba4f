// The client of a running gateway's operator API. It finds the gateway by flags, the environment, the file that the
// gateway writes at start (interfaces.md §2), or a login. Answers are kept as the exact text, so that `--json` can
// pass them on.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AdminTarget, Answer as Answered, Input } from "../src/api/client.ts";
import { fill } from "../src/api/target.ts";
import type { ErrorJson } from "../src/api/shapes/records.ts";
import { OPERATOR_FILE } from "../src/domain/data-files.ts";
import { messageOf } from "../src/domain/error-message.ts";
import type { ListedModel } from "./agents/agent.ts";
import { isOrganizationId, organizationNamed } from "./organization-named.ts";
import { everyPage } from "./every-page.ts";
import { addressOf, assertOpen, findLogin } from "./credentials.ts";
import { nextStep } from "./next-step.ts";
import { Problem } from "./problem.ts";

/** The result of a call: the document as sent, and its parsed value. */
export interface Answer<Value> {
  text: string;
  value: Value;
}

export interface Gateway {
  /** Calls an endpoint of the operator API with the fields that its target and its input name. */
  call: <T extends AdminTarget>(target: T, input: Input<T>) => Promise<Answer<Answered<T>>>;
}

export interface Door {
  url: string;
  token: string;
}

/** The content of `operator.json`. */
export interface OperatorFile extends Door {
  /** The configuration that the gateway runs with; missing if the gateway is an earlier version. */
  configuration?: { file: string | null; digest: string | null };
}

export interface DoorOptions {
  url?: string;
  token?: string;
  dataDir?: string;
}

const TIMEOUT_MS = 120_000;
/** Reads the whole ledger. */
const LONG: ReadonlySet<string> = new Set(["GET /admin/v1/ledger/audit"]);
const LONG_MS = 60 * 60_000;

/**
 * The gateway's address and the key to use, from flags, the environment, operator.json or the stored login, in this
 * order. A gateway named without a key gets the key that operator.json or the login has for it. Throws `Problem` if
 * none of them names one.
 */
export async function findDoor(options: DoorOptions): Promise<Door> {
  const url = (options.url ?? process.env["TOLLGATE_URL"]) || undefined;
  const token = (options.token ?? process.env["TOLLGATE_TOKEN"]) || undefined;
  if (url !== undefined && token !== undefined) return { url, token };
  const written = await operatorFile(options);
  const here = written !== null && (url === undefined || addressOf(url) === addressOf(written.url));
  const stored = here || token !== undefined ? null : findLogin(url);
  if (stored !== null) {
    assertOpen(stored);
    return { url: stored.address, token: stored.login.token };
  }
  const door = written ?? (url === undefined ? addressOnly(findLogin(url)) : null);
  if (door !== null) return { url: url ?? door.url, token: token ?? door.token };
  throw new Problem(
    `No gateway was found: there is no ${await operatorFileName(options)}, and no login${url === undefined ? "" : ` at ${url}`}.`,
    "Start one with ./tollgate serve, log in with ./tollgate login --url URL, or name one with --url and --token (TOLLGATE_URL, TOLLGATE_TOKEN).",
  );
}

/** The gateway's address, looked up in the same order. Throws `Problem` if nothing names it. */
export async function gatewayAddress(options: DoorOptions): Promise<string> {
  const named = (options.url ?? process.env["TOLLGATE_URL"]) || undefined;
  const known = named ?? (await operatorFile(options))?.url ?? findLogin(undefined)?.address;
  if (known !== undefined) return addressOf(known);
  throw new Problem("No gateway was found.", "Name one with --url https://gateway.example.com.");
}

/** What the gateway of this data directory wrote; null if none did. */
export async function operatorFile(options: DoorOptions): Promise<OperatorFile | null> {
  const file = await operatorFileName(options);
  return existsSync(file) ? readDoor(file) : null;
}

const operatorFileName = async (options: DoorOptions): Promise<string> =>
  join(await dataDir(options), OPERATOR_FILE);

/** Used if the key was given separately. */
const addressOnly = (found: ReturnType<typeof findLogin>): Door | null =>
  found === null ? null : { url: found.address, token: found.login.token };

async function dataDir(options: DoorOptions): Promise<string> {
  if (options.dataDir !== undefined) return options.dataDir;
  const { findDataDir } = await import("../src/config/data-dir.ts");
  return findDataDir({ env: process.env, cwd: process.cwd() });
}

function readDoor(file: string): OperatorFile {
  try {
    const { url, token, configuration } = JSON.parse(readFileSync(file, "utf8")) as Partial<OperatorFile>;
    if (typeof url === "string" && typeof token === "string")
      return { url, token, ...(configuration !== undefined && { configuration }) };
  } catch (error) {
    const reason = messageOf(error);
    throw new Problem(
      `${file} cannot be read: ${reason}`,
      "Run the command as the user that runs the gateway.",
    );
  }
  throw new Problem(
    `${file} has no url and token.`,
    "Restart the gateway: it writes the file when it starts.",
  );
}

/** `options` are those of the command that asks: a refusal names the one to correct. */
export function openGateway({ url, token }: Door, options: readonly string[] = []): Gateway {
  const address = addressOf(url);
  const ids = new Map<string, string>();
  const ask = async <Value>(path: string, init: RequestInit): Promise<Answer<Value>> => {
    const response = await send(`${address}${path}`, { ...init, token });
    const text = (await response.text()).trim();
    if (!response.ok) throw refused(response.status, text, options);
    return { text, value: parse<Value>(text, url) };
  };
  /** `--org` also accepts a name; an id is used as it is. */
  const idOf = async (org: string): Promise<string> => {
    const known = ids.get(org) ?? (isOrganizationId(org) ? org : null);
    if (known !== null) return known;
    const { value } = await everyPage(call, "GET /admin/v1/organizations", {});
    const id = organizationNamed(org, value.data);
    ids.set(org, id);
    return id;
  };
  const call: Gateway["call"] = async (target, given) => {
    const { org } = given as { org?: unknown };
    const input = typeof org === "string" ? { ...given, org: await idOf(org) } : given;
    const { method, path, rest } = fill(target, input);
    return method === "GET"
      ? ask(`${path}${printQuery(rest)}`, {
          method,
          ...(LONG.has(target) && { signal: AbortSignal.timeout(LONG_MS) }),
        })
      : ask(path, { method, body: JSON.stringify(rest) });
  };
  return { call };
}

async function send(url: string, { token, ...init }: RequestInit & { token: string }): Promise<Response> {
  passByProxy(new URL(url));
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  try {
    const signal = init.signal ?? AbortSignal.timeout(TIMEOUT_MS);
    // `timeout: false` turns off fetch's own limit of five minutes of silence.
    return await fetch(url, { ...init, headers, redirect: "manual", signal, timeout: false } as RequestInit);
  } catch (error) {
    const reason = messageOf(error);
    throw new Problem(
      `No gateway answers at ${new URL(url).origin}: ${reason}`,
      "Start it with ./tollgate serve, or name another one with --url.",
    );
  }
}

/**
 * Excludes loopback from the proxy: Bun's fetch uses HTTP_PROXY for loopback too, and would send the management key
 * to the proxy.
 */
export function passByProxy(url: URL): void {
  if (!isLoopback(url)) return;
  process.env["NO_PROXY"] = [process.env["NO_PROXY"], url.hostname].filter(Boolean).join(",");
}

export const isLoopback = ({ hostname }: URL): boolean =>
  /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname);

/** The models that an API key may use. */
export async function getModels(address: string, key: string): Promise<ListedModel[]> {
  const response = await send(`${address}/v1/models`, { method: "GET", token: key });
  const text = (await response.text()).trim();
  if (response.ok) return parse<{ data: ListedModel[] }>(text, address).data;
  const { message } = refused(response.status, text);
  throw new Problem(
    message,
    "Give the secret of an API key, gw_sk_…; ./tollgate keys create makes one.",
    text,
  );
}

function printQuery(query: Record<string, unknown>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const printed = given.map(([name, value]): [string, string] => [name, String(value)]);
  return given.length === 0 ? "" : `?${new URLSearchParams(printed).toString()}`;
}

function parse<Value>(text: string, url: string): Value {
  try {
    return JSON.parse(text) as Value;
  } catch {
    throw new Problem(`${url} did not answer with JSON.`, "Check that --url names a Tollgate gateway.");
  }
}

function refused(status: number, text: string, options: readonly string[] = []): Problem {
  const error = readError(text);
  if (error === null)
    return new Problem(`The gateway answered ${status}.`, "Check that --url names a Tollgate gateway.");
  return new Problem(`${error.message} (${error.code}, ${error.request_id})`, nextStep(error, options), text);
}

function readError(text: string): ErrorJson["error"] | null {
  try {
    const body = JSON.parse(text) as Partial<ErrorJson>;
    return typeof body.error?.message === "string" ? body.error : null;
  } catch {
    return null;
  }
}
