// Opens a price table: the snapshot, a file, models.dev, LiteLLM or another URL. Data from outside is limited
// in size and time, comes from one host, and is skipped where it cannot be read exactly.
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { printDay } from "../../domain/print.ts";
import { CatalogueError } from "./catalogue-error.ts";
import type { TableReading } from "./entry.ts";
import { inert, type Json, memberOf, readTableJson, stringOf } from "./json.ts";
import { isLiteLlm, readLiteLlm } from "./litellm.ts";
import { isModelsDev, readModelsDev } from "./models-dev.ts";
import { isSnapshot, readSnapshot } from "./snapshot.ts";
import snapshot from "./snapshot.json" with { type: "text" };
import { messageOf } from "../../domain/error-message.ts";

export interface PriceTable extends TableReading {
  /** "LiteLLM 1.109.1", "models.dev", a file name. */
  source: string;
  /** True if it is meant to contain every model of its providers. */
  complete: boolean;
  /** The date of its prices. */
  date: string;
}

const ADDRESSES: ReadonlyMap<string, string> = new Map([
  ["models.dev", "https://models.dev/api.json"],
  ["litellm", "https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json"],
]);
const SIZE_MAX = 32 * 1024 * 1024;
const FETCH_MS = 20_000;
const REDIRECTS_MAX = 3;
const OFFLINE = "Leave out --from for the snapshot that ships with this program, or name a file.";

/** Reads a table. Throws `CatalogueError` if it cannot be fetched or read. */
export async function openTable(from: string | undefined, nowMs: number): Promise<PriceTable> {
  if (from === undefined) return readTable(snapshot as unknown as string, { name: "snapshot", atMs: nowMs });
  const address = ADDRESSES.get(from) ?? from;
  if (/^https?:\/\//i.test(address)) return readTable(await fetched(address), { name: from, atMs: nowMs });
  return readTable(fileText(from), { name: from, atMs: fileTime(from) });
}

/** Parses the text of a table. `atMs`: when it was fetched, used if it does not state its own date. */
export function readTable(text: string, { name, atMs }: { name: string; atMs: number }): PriceTable {
  const json = readTableJson(text, name);
  const told = stringOf(memberOf(json, "source"));
  return {
    ...readingOf(json, name),
    complete: !isSnapshot(json),
    source: inert(told ?? name),
    date: inert(stringOf(memberOf(json, "date")) ?? printDay(atMs)),
  };
}

function readingOf(json: Json, name: string): TableReading {
  if (isSnapshot(json)) return readSnapshot(json);
  if (isModelsDev(json)) return readModelsDev(json);
  if (isLiteLlm(json)) return readLiteLlm(json);
  throw new CatalogueError(
    `${name} is not a price table of a known format.`,
    "Give models.dev's api.json, LiteLLM's model_prices_and_context_window.json, or leave out --from.",
  );
}

function fileText(path: string): string {
  const bytes = Buffer.alloc(64 * 1024);
  const parts: Buffer[] = [];
  const file = attempt(path, () => openSync(path, "r"));
  try {
    for (let size = 0; ; ) {
      const read = attempt(path, () => readSync(file, bytes));
      if (read === 0) return utf8(Buffer.concat(parts), path);
      size = within(size + read, path);
      parts.push(Buffer.from(bytes.subarray(0, read)));
    }
  } finally {
    closeSync(file);
  }
}

const fileTime = (path: string): number => attempt(path, () => statSync(path)).mtimeMs;

function attempt<Value>(path: string, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    const reason = messageOf(error);
    throw new CatalogueError(
      `${path} cannot be read: ${reason}`,
      "Check the file's name, or leave out --from.",
    );
  }
}

async function fetched(address: string): Promise<string> {
  const signal = AbortSignal.timeout(FETCH_MS);
  const response = await asked(new URL(address), signal, REDIRECTS_MAX);
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of response.body ?? []) {
      size = within(size + part.byteLength, address);
      parts.push(part);
    }
  } catch (error) {
    throw error instanceof CatalogueError ? error : unreachable(address, error);
  }
  return utf8(Buffer.concat(parts), address);
}

async function asked(url: URL, signal: AbortSignal, redirects: number): Promise<Response> {
  if (url.protocol !== "https:" && !/^(?:localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname))
    throw new CatalogueError(
      `Prices are not fetched from ${url.origin} without encryption: anyone in between could change them.`,
      "Give an https address.",
    );
  let response: Response;
  try {
    response = await fetch(url.href, { redirect: "manual", signal, headers: { accept: "application/json" } });
  } catch (error) {
    throw unreachable(url.href, error);
  }
  const target = response.headers.get("location");
  if (response.status >= 300 && response.status < 400 && target !== null) {
    const next = URL.canParse(target, url.href) ? new URL(target, url) : null;
    if (next?.host !== url.host || redirects === 0)
      throw new CatalogueError(
        `${url.href} redirects to ${inert(next?.host ?? target)}, another host.`,
        "Name that address with --from if you trust it.",
      );
    await response.body?.cancel();
    return await asked(next, signal, redirects - 1);
  }
  if (response.ok) return response;
  throw new CatalogueError(`${url.href} answered ${response.status}.`, OFFLINE);
}

const unreachable = (address: string, error: unknown): CatalogueError =>
  new CatalogueError(`${address} cannot be reached: ${messageOf(error)}`, OFFLINE);

function within(size: number, name: string): number {
  if (size <= SIZE_MAX) return size;
  throw new CatalogueError(
    `${name} is larger than ${SIZE_MAX / 1024 / 1024} MiB, too large for a price table.`,
    "Check what it is.",
  );
}

function utf8(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new CatalogueError(`${name} is not UTF-8 text.`, "Fetch the table again.");
  }
}
