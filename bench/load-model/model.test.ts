// The load model's arithmetic: shares, batches and costs checked by hand, by a simulated draw of the same load, and
// against the measurements; and that it names the limit that breaks.
import { describe, expect, test } from "bun:test";
import { MEASURED, ONE_DATABASE, ROUNDS_MEASURED } from "./costs.ts";
import { fitted } from "./fit.ts";
import {
  batchesOf,
  batchOf,
  breaksAt,
  costOf,
  databasesFor,
  distinct,
  needsOf,
  sharesOf,
  tightest,
} from "./model.ts";

const ON = { costs: MEASURED, limits: ONE_DATABASE };
const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0);

/** Numbers from 0 to 1 that are the same in each run. */
function drawing(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe("shares", () => {
  test("all are equal without skew; with skew 1 the second has half of the first and the third a third", () => {
    expect([...sharesOf({ organizations: 4, skew: 0 })]).toEqual([0.25, 0.25, 0.25, 0.25]);
    const [first = 0, second = 0, third = 0] = sharesOf({ organizations: 1_000, skew: 1 });
    expect([second / first, third / first]).toEqual([0.5, expect.closeTo(1 / 3, 12)]);
  });

  test("they add up to the whole load", () => {
    for (const skew of [0, 0.8, 1, 1.5])
      expect(sum(sharesOf({ organizations: 10_000, skew }))).toBeCloseTo(1, 9);
  });
});

describe("batches", () => {
  test("the expected number of different organizations matches a simulated draw", () => {
    const shares = sharesOf({ organizations: 300, skew: 1 });
    const upTo = shares.reduce<number[]>((list, share) => [...list, (list.at(-1) ?? 0) + share], []);
    const next = drawing(7);
    for (const draws of [2, 16, 128]) {
      let met = 0;
      for (let round = 0; round < 400; round += 1) {
        const seen = new Set<number>();
        for (let draw = 0; draw < draws; draw += 1) {
          const at = next();
          seen.add(upTo.findIndex((most) => at < most));
        }
        met += seen.size / 400;
      }
      expect(distinct(shares, draws) / met).toBeCloseTo(1, 1);
    }
  });

  test("one organization counts once, and never more than exist or were drawn", () => {
    expect(distinct(sharesOf({ organizations: 1, skew: 0 }), 50)).toBe(1);
    expect(distinct(sharesOf({ organizations: 1_000, skew: 0 }), 2)).toBeLessThanOrEqual(2);
    expect(distinct(sharesOf({ organizations: 3, skew: 0 }), 1_000)).toBeCloseTo(3, 6);
  });

  test("an idle writer commits each operation alone, a busy one all that arrived meanwhile, at most 256", () => {
    const writer = { commitMs: 1, operationMs: 0.05 };
    expect(batchOf(0.1, writer)).toBe(1);
    // 2.5 ms as late as an idle one, and a twentieth for each operation: 10 · 2.5 / (1 − 10 / 20).
    expect(batchOf(10, writer)).toBeCloseTo(50, 9);
    expect(batchOf(20, writer)).toBe(256);
    expect(batchOf(500, writer)).toBe(256);
  });

  test("a lone request is two commits, both of which touch its organization", () => {
    const lone = batchesOf(1, sharesOf({ organizations: 100, skew: 0 }), 1, MEASURED);
    expect(lone.operations).toBeCloseTo(1, 9);
    expect(lone.commits).toBeCloseTo(2, 9);
    expect(lone.touches).toBeCloseTo(2, 9);
  });
});

describe("costs", () => {
  test("the three costs are recovered from rounds that follow them exactly", () => {
    const parts = { request: 60, commit: 300, touch: 120 };
    const rounds = [
      { commits: 3, touches: 2 },
      { commits: 0.5, touches: 0.3 },
      { commits: 0.1, touches: 0.08 },
      { commits: 0.2, touches: 1.4 },
    ].map((batches) => ({ ...batches, cost: costOf(parts, batches) }));
    const found = fitted(rounds);
    expect(found.request).toBeCloseTo(60, 6);
    expect(found.commit).toBeCloseTo(300, 6);
    expect(found.touch).toBeCloseTo(120, 6);
  });

  test("the default costs are those fitted to the measured rounds, and predict each round to within a third", () => {
    const kinds = [
      ["database", "databaseMicros"],
      ["ledger", "ledgerMicros"],
      ["log", "logBytes"],
    ] as const;
    for (const [parts, measured] of kinds) {
      const rounds = ROUNDS_MEASURED.map((round) => ({ ...round, cost: round[measured] }));
      const found = fitted(rounds);
      for (const part of ["request", "commit", "touch"] as const)
        expect({ parts, part, close: Math.abs(found[part] / MEASURED[parts][part] - 1) < 0.03 }).toEqual({
          parts,
          part,
          close: true,
        });
      for (const { commits, touches, cost } of rounds) {
        const told = costOf(MEASURED[parts], { commits, touches }) / cost;
        expect({ parts, told: told > 2 / 3 && told < 4 / 3 }).toEqual({ parts, told: true });
      }
    }
  });

  test("rounds that are all alike are refused", () => {
    const alike = { commits: 3, touches: 2, cost: 100 };
    expect(() => fitted([alike, alike, alike])).toThrow("too alike");
  });
});

describe("needs", () => {
  const load = { organizations: 10_000, skew: 1 };

  test("more requests need no fewer machines, and fewer commits each", () => {
    const rates = [100, 1_000, 10_000, 30_000, 100_000];
    const needs = rates.map((rate) => needsOf({ ...load, rate }, databasesFor({ ...load, rate }, ON), ON));
    for (const [index, now] of needs.entries()) {
      const before = needs[index - 1];
      if (before === undefined) continue;
      expect(now.gateways).toBeGreaterThanOrEqual(before.gateways);
      expect(now.batches.commits).toBeLessThanOrEqual(before.batches.commits + 1e-9);
    }
  });

  test("there are enough gateways for the cost of their requests", () => {
    const needs = needsOf({ ...load, rate: 10_000 }, 1, ON);
    const cores = (10_000 * needs.gatewayMicros) / 1e6;
    expect(cores / needs.gateways).toBeLessThanOrEqual(0.6 + 1e-9);
    expect(cores / (needs.gateways - 1)).toBeGreaterThan(0.6 * 0.98);
  });

  test("one organization with half of the load breaks its row, whatever the number of databases", () => {
    const lopsided = { organizations: 2, skew: 0, rate: 20_000 };
    expect(databasesFor(lopsided, ON)).toBeLessThanOrEqual(2);
    const needs = needsOf(lopsided, 2, ON);
    expect(needs.hottest).toBe(10_000);
    expect(needs.used.hottest).toBeCloseTo(10_000 / ONE_DATABASE.hottest, 9);
  });

  test("at the rate where one database breaks, one limit is reached, and a tenth more exceeds it", () => {
    const rate = breaksAt(load, ON);
    const at = needsOf({ ...load, rate }, 1, ON);
    expect(at.used[tightest(at)]).toBeLessThanOrEqual(1);
    const beyond = needsOf({ ...load, rate: rate * 1.1 }, 1, ON);
    expect(beyond.used[tightest(beyond)]).toBeGreaterThan(1);
  });
});
