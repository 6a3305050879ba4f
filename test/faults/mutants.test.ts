// The torture harness finds bugs: two of its mutants run in `npm test`. The others, each beside a control without its
// bug, take longer: `npm run torture -- --mutants`. A mutant's effect does not depend on timing, so other files run
// beside it.
import { describe, expect, test } from "bun:test";
import { MUTANTS } from "../../torture/mutants/list.ts";
import { edit } from "../../torture/mutants/mutant.ts";
import { prove } from "../../torture/mutants/run.ts";

const LIMIT_MS = 150_000;
const FIXED_SEED = 20_261_121;
const PROVEN_HERE = ["keys-cached", "no-credits-guard"];

describe("mutants", () => {
  for (const mutant of MUTANTS) {
    test(`${mutant.name} still applies to the source: ${mutant.bug}`, () => {
      expect(edit(mutant).size).toBeGreaterThan(0);
    });
    if (!PROVEN_HERE.includes(mutant.name)) continue;
    test(
      `${mutant.name} is found`,
      async () => {
        const { found } = await prove(mutant, { seed: FIXED_SEED, control: false });
        expect(Object.keys(found)).not.toBeEmpty();
      },
      LIMIT_MS,
    );
  }
});
