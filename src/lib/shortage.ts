// Whether this machine has run out of what another connection takes: descriptors, ports, memory for sockets. What fails for
// want of it is nobody else's failure.
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";

const WANTS: Readonly<Record<string, string>> = {
  EMFILE: "no file descriptor left",
  ENFILE: "no file descriptor left on this machine",
  EADDRNOTAVAIL: "no local port left",
  ENOBUFS: "no memory left for sockets",
  ENOMEM: "no memory left",
};

/** A connection and the look-up of its name take a few at a time; and one may have come back since it failed. */
const SPARE = 8;

/** What is short, in words, where this code of an error says so by itself; else null. */
export const wantIn = (code: string): string | null =>
  Object.hasOwn(WANTS, code) ? (WANTS[code] ?? null) : null;

/**
 * What was short here, in words; null where a connection that failed with `code` failed for another reason. Bun's connect says
 * `ECONNREFUSED`, and its resolver `ENOTFOUND`, also where there was no descriptor for them: that is tried out.
 */
export const wantBehind = (code: string): string | null => wantIn(code) ?? wantIn(codeOfOpening());

/** Of the error that opening a few files meets now; empty where they open. */
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

/** Of what is no call: the store, files, doors that listen, who asks for something else. */
const KEPT_BACK = 48;
/** Its client's and its provider's. */
const OF_A_CALL = 2;

/** How many calls there are descriptors for, at least one, by what this process may have open; null where it has no bound. */
export function callsWithDescriptors(openMax = openFilesMax()): number | null {
  return openMax === null ? null : Math.max(1, Math.floor((openMax - KEPT_BACK) / OF_A_CALL));
}

const LIMITS = "/proc/self/limits";

/** `ulimit -n` as it holds now; null where it is unlimited, or the system does not tell. */
export function openFilesMax(): number | null {
  if (!existsSync(LIMITS)) return null;
  const found = /^Max open files\s+(\d+)/m.exec(readFileSync(LIMITS, "utf8"))?.[1];
  return found === undefined ? null : Number(found);
}
