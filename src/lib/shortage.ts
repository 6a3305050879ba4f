// Detects whether this machine has run out of what a new connection needs: descriptors, ports, memory for
// sockets. A failure caused by that is not the provider's.
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";

const WANTS: Readonly<Record<string, string>> = {
  EMFILE: "no file descriptor left",
  ENFILE: "no file descriptor left on this machine",
  EADDRNOTAVAIL: "no local port left",
  ENOBUFS: "no memory left for sockets",
  ENOMEM: "no memory left",
};

/**
 * A connection and its name lookup take a few descriptors at a time, and one may have been freed since the
 * failure.
 */
const SPARE = 8;

/** The shortage in words, if this error code names one directly; otherwise null. */
export const wantIn = (code: string): string | null =>
  Object.hasOwn(WANTS, code) ? (WANTS[code] ?? null) : null;

/**
 * The shortage in words; null if a connection that failed with `code` failed for another reason. Bun's
 * connect reports `ECONNREFUSED`, and its resolver `ENOTFOUND`, also if there was no descriptor left: so
 * opening files is tried.
 */
export const wantBehind = (code: string): string | null => wantIn(code) ?? wantNow();

/** The shortage in words if this process has hardly a descriptor left now; otherwise null. */
export const wantNow = (): string | null => wantIn(codeOfOpening());

/** The error code of opening a few files now; empty if they open. */
function codeOfOpening(): string {
  const opened: number[] = [];
  try {
    while (opened.length < SPARE) opened.push(openSync("/dev/null", "r"));
    return "";
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : "";
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/** Descriptors reserved for everything but calls: the store, files, listeners, other requests. */
const KEPT_BACK = 48;
/** The client's and the provider's. */
const OF_A_CALL = 2;

/**
 * The number of calls, at least one, that fit into this process's limit of descriptors; null if it has no
 * limit.
 */
export function callsWithDescriptors(openMax = openFilesMax()): number | null {
  return openMax === null ? null : Math.max(1, Math.floor((openMax - KEPT_BACK) / OF_A_CALL));
}

const LIMITS = "/proc/self/limits";

/** The current `ulimit -n`; null if it is unlimited or unknown. */
export const openFilesMax = (): number | null => limitOf("Max open files");

/** The current `ulimit -f` in bytes: no file may be written beyond it. Null if it is unlimited or unknown. */
export const fileBytesMax = (): number | null => limitOf("Max file size");

function limitOf(name: string): number | null {
  if (!existsSync(LIMITS)) return null;
  const found = new RegExp(`^${name}\\s+(\\d+)`, "m").exec(readFileSync(LIMITS, "utf8"))?.[1];
  return found === undefined ? null : Number(found);
}
