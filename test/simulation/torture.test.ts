// The torture harness in `npm test`: a fixed seed; less than half a minute in all. Random seeds need longer: `npm run torture`.
// `test/faults/mutants.test.ts` shows that it finds bugs.
import { expect, test } from "bun:test";
import { plain } from "../../torture/found.ts";
import { makePlan } from "../../torture/make-plan.ts";
import { printTable } from "../../torture/report.ts";
import { countViolations, torture } from "../../torture/torture.ts";
import { PROGRAM } from "../support/program.ts";

const PLAYED_MS = 15_000;
const LIMIT_MS = 150_000;
const FIXED_SEED = 20_261_121;

test(
  `after ${PLAYED_MS / 1000} s of random traffic and chaos every invariant holds (seed ${FIXED_SEED})`,
  async () => {
    const report = await torture({
      seed: FIXED_SEED,
      ms: PLAYED_MS,
      keep: true,
      fairness: true,
      program: PROGRAM,
      simulator: PROGRAM,
    });
    if (countViolations(report) > 0) throw new Error(printTable(report));
    expect(report.figures["settled"]).toBeGreaterThan(20);
  },
  LIMIT_MS,
);

test("one seed gives one plan, whatever happens", () => {
  const plan = (seed: number): string => JSON.stringify(makePlan({ seed, ms: 5_000, gateways: 1 }), plain);
  expect(plan(FIXED_SEED)).toBe(plan(FIXED_SEED));
  expect(plan(FIXED_SEED)).not.toBe(plan(FIXED_SEED + 1));
});
