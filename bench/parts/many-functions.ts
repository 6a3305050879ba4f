// Functions that do nothing useful, each with its own source text and therefore its own machine code: what they cost
// depends on their number.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Makes as many as requested, by the text of the nth; through a file, because a URL cannot hold 300. */
async function made<F>(count: number, text: (n: number) => string): Promise<F[]> {
  const dir = mkdtempSync(join(tmpdir(), "tollgate-functions-"));
  const file = join(dir, "functions.js");
  writeFileSync(
    file,
    `export const all = [${Array.from({ length: count }, (_, n) => text(n)).join(",\n")}];`,
  );
  try {
    const { all } = (await import(file)) as { all: F[] };
    return all;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

export interface Sum {
  sum: number;
}

/** The number of branches in each: it makes the code as long as that of a typical function. */
const BRANCHES = 32;

function stepText(n: number): string {
  const branch = (at: number): string => {
    const bit = 1 << (at % 11);
    return `if ((sum & ${bit}) === ${at % 3 === 0 ? 0 : bit}) sum = (sum * ${n * 7 + at + 3} + ${at}) | 0; else sum = (sum ^ ${at * 31 + n}) | 0;`;
  };
  return `(of) => { let { sum } = of; ${Array.from({ length: BRANCHES }, (_, at) => branch(at)).join(" ")} of.sum = sum; }`;
}

export const steps = (count: number): Promise<((of: Sum) => void)[]> => made(count, stepText);

type Through = (of: object) => Promise<object>;
type Layer = (next: () => Promise<object>, of: object) => Promise<object>;

const layerText = (n: number): string =>
  `async (next, of) => { const place = { of, at: ${n} }; const answer = await next(); return { answer, place }; }`;

/** This many nested async functions. */
export async function layers(count: number): Promise<Through> {
  const all = await made<Layer>(count, layerText);
  return all.reduce<Through>(
    (next, layer) => (of) => layer(() => next(of), of),
    async (of) => of,
  );
}
