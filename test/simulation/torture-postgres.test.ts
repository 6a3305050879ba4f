// The torture run on PostgreSQL in `npm test`: three gateways, and a synchronous standby that takes over. The plan of
// this seed kills and restarts the database twice, freezes it once, cuts single connections to it, and pauses a
// gateway until it is evicted.
import { expect, test } from "bun:test";
import { printTable } from "../../torture/report.ts";
import { countViolations, torture } from "../../torture/torture.ts";
import { PROGRAM } from "../support/program.ts";

const PLAYED_MS = 25_000;
const LIMIT_MS = 300_000;
const FIXED_SEED = 164;

test(
  `after ${PLAYED_MS / 1000} s of chaos among three gateways and their database every invariant holds (seed ${FIXED_SEED})`,
  async () => {
    const database = { gateways: 3, standby: true };
    const report = await torture({
      seed: FIXED_SEED,
      ms: PLAYED_MS,
      database,
      keep: true,
      program: PROGRAM,
      simulator: PROGRAM,
    });
    if (countViolations(report) > 0) throw new Error(printTable(report));
    expect(report.figures["settled"]).toBeGreaterThan(20);
    expect(report.figures["kills of the database"]).toBeGreaterThan(0);
    expect(report.figures["freezes of the database"]).toBe(1);
    expect(report.figures["connections to the database cut"]).toBeGreaterThan(0);
    expect(report.figures["promotions of its standby"]).toBe(1);
  },
  LIMIT_MS,
);
