// `npm run torture -- --mutants [NAME…]`: each mix must be clean on the checkout and find violations on its mutant.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { countViolations, type Report, torture } from "../torture.ts";
import { MUTANTS } from "./list.ts";
import { type Mutant, plant } from "./mutant.ts";

/** A mutant may leave something unfinished for ever; it gets less time than a gateway would. */
const QUIET_WITHIN_MS = 4_000;

export interface Proof {
  mutant: string;
  bug: string;
  seconds: number;
  /** Violations of the mutant by check; the mutant is found if there are any. */
  found: Record<string, number>;
  /** The same for the checkout under the same plan, where nothing may be found; null if not requested. */
  control: Record<string, number> | null;
}

export async function prove(mutant: Mutant, options: { seed: number; control: boolean }): Promise<Proof> {
  const { name, bug, mix, seconds, store, fairness = false } = mutant;
  const database = store === "postgres" && { database: { gateways: 2, standby: false } };
  const run = { seed: options.seed, ms: seconds * 1_000, mix, fairness, ...database };
  const control = options.control ? byCheck(await torture(run)) : null;
  const root = plant(mutant);
  try {
    const report = await torture({ ...run, program: join(root, "tollgate"), quietWithinMs: QUIET_WITHIN_MS });
    return { mutant: name, bug, seconds, found: byCheck(report), control };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

export async function runMutants(options: {
  seed: number;
  names: string[];
  json: boolean;
  store: string;
}): Promise<number> {
  const { store: place, names } = options;
  const chosen = MUTANTS.filter(({ name, store = "sqlite" }) =>
    names.length === 0 ? store === place : names.includes(name),
  );
  const unknown = options.names.filter((name) => !MUTANTS.some((mutant) => mutant.name === name));
  if (unknown.length > 0) {
    console.error(`no mutant ${unknown.join(", ")}; there are ${MUTANTS.map(({ name }) => name).join(", ")}`);
    return 2;
  }
  console.error(`torture: ${chosen.length} mutants, seed ${options.seed}`);
  const proofs: Proof[] = [];
  for (const mutant of chosen) {
    const proof = await prove(mutant, { seed: options.seed, control: true });
    proofs.push(proof);
    if (!options.json) console.log(printProof(proof));
  }
  if (options.json) console.log(JSON.stringify({ seed: options.seed, proofs }));
  return proofs.every(holds) ? 0 : 1;
}

/** True if the mutant was found and the checkout was clean under the same plan. */
const holds = ({ found, control }: Proof): boolean =>
  Object.keys(found).length > 0 && (control === null || Object.keys(control).length === 0);

function printProof(proof: Proof): string {
  const { mutant, bug, found, control } = proof;
  const list = (counts: Record<string, number>): string =>
    Object.entries(counts)
      .map(([check, count]) => `${check} (${count})`)
      .join(", ");
  const verdict = Object.keys(found).length === 0 ? "NOT FOUND" : `found by: ${list(found)}`;
  const lines = [`${mutant}: ${bug}`, `  ${verdict}`];
  if (control !== null && Object.keys(control).length > 0)
    lines.push(`  WITHOUT THE BUG, TOO: ${list(control)}`);
  return lines.join("\n");
}

function byCheck(report: Report): Record<string, number> {
  if (countViolations(report) === 0) return {};
  const entries = [...report.violations].map(([check, list]) => [check, list.length] as const);
  return Object.fromEntries(entries.filter(([, count]) => count > 0));
}
