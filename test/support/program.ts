// The program that tests start as a process. `npm test` builds the single executable once for all of them: it starts
// with half of the processor time that the sources need, and is what operators run. A test file run by itself uses
// the sources.
import { join } from "node:path";

/** From the sources, as `./tollgate` in a checkout. */
export const SOURCES = join(import.meta.dir, "../../tollgate");

/** Set by `scripts/test.ts`. */
export const PROGRAM = process.env["TOLLGATE_TEST_PROGRAM"] ?? SOURCES;

export interface Ran {
  code: number;
  out: string;
  err: string;
}

/** Runs it to its end, with empty stdin. */
export async function runToEnd(
  program: string,
  args: readonly string[],
  terms: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ran> {
  const child = Bun.spawn([program, ...args], { ...terms, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, out, err };
}
