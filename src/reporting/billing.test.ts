// A window of the ledger is found by its first entry: later entries, however many, are not read.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate } from "../store/migrate.ts";
import { plannedSql } from "../../test/support/planned-sql.ts";
import { ledgerPage, type BillingPorts } from "./billing.ts";

const ENTRIES = 90;
const at = (day: number): number => Date.UTC(2026, 8, day);

const writer = new Database(":memory:", { safeIntegers: true });
migrate(writer);
writer.run("INSERT INTO organization (org_id, name, created_at) VALUES ('org_a', 'A', 0)");
writer.run(
  `INSERT INTO org_balance (org_id, slot, available, held, debt, purchased, granted, spent, version, head_hash, stamped_at)
   VALUES ('org_a', 0, 0, 0, 0, 0, 0, 0, ?1, zeroblob(32), 0)`,
  [ENTRIES],
);
for (let n = 1; n <= ENTRIES; n += 1)
  writer.run(
    `INSERT INTO ledger_entry (org_id, slot, version, txn, kind, debit, credit, amount, available_before, available_after,
       held_before, held_after, requests, at, prev_hash, hash)
     VALUES ('org_a', 0, ?1, ?1, ?2, 'a', 'b', 1, 0, 0, 0, 0, 1, ?3, zeroblob(32), zeroblob(32))`,
    [n, n % 30 === 2 ? "grant" : "charge", at(n)],
  );

/** One entry a day for three months; entry 31 is the first of October. */
async function page(query: Parameters<typeof ledgerPage>[2], lookedAt?: bigint) {
  const { sql, plans } = plannedSql(writer);
  const on = { sql, clock: { nowMs: () => at(ENTRIES) } } as unknown as BillingPorts;
  const { data, next_cursor, searched_to } = await ledgerPage(on, "org_a", query, {
    ...(lookedAt !== undefined && { lookedAt }),
  });
  return { entries: data.map(({ n }) => n), plan: plans.at(-1)?.join() ?? "", next_cursor, searched_to };
}
const numbers = (from: number, to: number): number[] =>
  Array.from({ length: from - to + 1 }, (_, n) => from - n);
const OCTOBER = { from: "2026-10-01T00:00:00Z", to: "2026-11-01T00:00:00Z" };

test("a month has its own entries, from its first to its last", async () => {
  const { entries, plan } = await page(OCTOBER);
  expect(entries).toEqual(numbers(61, 31));
  expect(plan).toMatch(/version>\? AND version<\?/);
});

test("the second page ends with the month, and a kind is searched for only in it", async () => {
  expect((await page({ ...OCTOBER, limit: 20 })).entries).toEqual(numbers(61, 42));
  const second = await page({ ...OCTOBER, limit: 20, cursor: "42" });
  expect(second.entries).toEqual(numbers(41, 31));
  expect(second.plan).toMatch(/version>\? AND version<\?/);
  const grants = await page({ ...OCTOBER, kind: "grant" });
  expect(grants.entries).toEqual([32]);
  expect(grants.plan).toMatch(/version>\? AND version<\?/);
});

test("an entry with a damaged time does not mislead the search", async () => {
  writer.run("DROP TRIGGER ledger_entry_no_update");
  for (const [n, damaged] of Array.from({ length: ENTRIES }, (_, n) => n + 1).flatMap((n) =>
    [0, 9e14].map((ms) => [n, ms] as const),
  )) {
    const stamp = (ms: number): unknown =>
      writer.run("UPDATE ledger_entry SET at = ?1 WHERE version = ?2", [ms, n]);
    stamp(damaged);
    const { entries } = await page(OCTOBER);
    const others = entries.filter((other) => other !== n);
    expect({ n, damaged, others }).toEqual({
      n,
      damaged,
      others: numbers(61, 31).filter((other) => other !== n),
    });
    stamp(at(n));
  }
});

test.each([2n ** 63n - 1n, 10n ** 15n, 0n, -1n, -(2n ** 63n)])(
  "one entry with the damaged number %p hides no other, and fails no page",
  async (damaged) => {
    const renumber = (to: bigint, from: bigint): unknown =>
      writer.run("UPDATE ledger_entry SET version = ?1 WHERE version = ?2", [to, from]);
    for (const n of [1n, 45n, 90n]) {
      renumber(damaged, n);
      const { entries } = await page({ limit: 200 });
      expect(entries.filter((other) => other !== Number(damaged))).toEqual(
        numbers(90, 1).filter((other) => other !== Number(n)),
      );
      expect((await page(OCTOBER)).entries.length).toBeGreaterThanOrEqual(30);
      renumber(n, damaged);
    }
  },
);

test("a month before the first entry, and one after the last, have none", async () => {
  const none = (from: string, to: string) => page({ from: `${from}T00:00:00Z`, to: `${to}T00:00:00Z` });
  expect((await none("2026-07-01", "2026-08-01")).entries).toEqual([]);
  expect((await none("2027-01-01", "2027-02-01")).entries).toEqual([]);
});

test("a rare kind is searched for among a limited number of entries a page, and the next page continues there", async () => {
  const found: [number[], string | null][] = [];
  let cursor: string | undefined;
  do {
    const { entries, next_cursor, searched_to } = await page({ kind: "grant", cursor }, 25n);
    found.push([entries, searched_to?.slice(0, 10) ?? null]);
    cursor = next_cursor ?? undefined;
  } while (cursor !== undefined);
  expect(found).toEqual([
    [[], "2026-11-05"],
    [[62], "2026-10-11"],
    [[32], "2026-09-16"],
    [[2], null],
  ]);
  expect((await page({ kind: "grant" })).entries).toEqual([62, 32, 2]);
  expect(await page({ cursor: "900719925474" }, 25n)).toMatchObject({ entries: numbers(90, 66) });
});
