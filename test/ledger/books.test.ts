// Where a check of the books begins: where the last one ended, as far as the store still has it. A database that lost
// its last seconds, as a promoted standby may have, is consistent, and stops nobody.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { STORE_FILE } from "../../src/domain/data-files.ts";
import { nanoUsd } from "../../src/domain/money.ts";
import { type BooksQuestion, type BooksReport, checkBooks } from "../../src/ledger/verify/books.ts";
import { CHAIN_BEGIN, type ChainBase } from "../../src/ledger/verify/chain.ts";
import { runOnSqlite } from "../../src/store/sqlite-sql.ts";
import { type Customer, hello, startGateway, type TestGateway } from "../support/gateway.ts";

let gateway: TestGateway;
let customer: Customer;
let organizationId: string;
beforeAll(async () => {
  gateway = await startGateway({ store: "sqlite" });
  customer = await gateway.customer();
  ({ organizationId } = customer);
  for (let n = 0; n < 3; n += 1) await gateway.chat(customer, hello());
});
afterAll(() => gateway.stop());

function look(over: Partial<BooksQuestion> = {}): BooksReport {
  const database = new Database(join(gateway.dataDir, STORE_FILE), { safeIntegers: true });
  try {
    return runOnSqlite(database, checkBooks({ bases: new Map(), fixed: new Map(), ...over }));
  } finally {
    database.close();
  }
}

const from = (base: ChainBase): Partial<BooksQuestion> => ({ bases: new Map([[organizationId, base]]) });
const stopped = (base: ChainBase): Partial<BooksQuestion> => ({
  fixed: new Map([[organizationId, { base, stopped: true }]]),
});
const OTHER_HASH = new Uint8Array(32).fill(7);

function baseNow(): ChainBase {
  const base = look().bases.get(organizationId);
  if (base === undefined) throw new Error("it was not looked at");
  return base;
}

test("the next check begins at the current balance", async () => {
  const base = baseNow();
  expect(base.version).toBeGreaterThan(6);
  await gateway.chat(customer, hello());
  const { violations, bases } = look(from(base));
  expect(violations).toEqual([]);
  expect(bases.get(organizationId)?.version).toBeGreaterThan(base.version);
});

test("what came before a base is not checked, what came after it is", async () => {
  const base = baseNow();
  const off = { ...base, available: nanoUsd(base.available + 1n) };
  await gateway.chat(customer, hello());
  const { violations, bases } = look(from(off));
  expect(violations.map(({ invariant }) => invariant)).toContain("I5 rows join");
  expect(bases.get(organizationId)).toEqual(off); // a violation does not expire
});

test.each([
  ["that the store does not have any more", (base: ChainBase) => ({ ...base, version: base.version + 9 })],
  ["where another entry stands now", (base: ChainBase) => ({ ...base, headHash: OTHER_HASH })],
  [
    "of which others came since",
    (base: ChainBase) => ({ ...base, version: base.version - 1, headHash: OTHER_HASH }),
  ],
])("a place %s is forgotten: nobody is stopped for it", (_, lost) => {
  const base = baseNow();
  expect(look(from(lost(base)))).toMatchObject({ violations: [] });
  // For a stopped organization the whole chain is read instead.
  expect(look(stopped(lost(base)))).toMatchObject({ violations: [] });
  expect(look(stopped(CHAIN_BEGIN)).violations).toEqual([]);
});

test("the place that an operator has accepted takes precedence over an older one of this process", async () => {
  const base = baseNow();
  const off = { ...base, available: nanoUsd(base.available + 1n) };
  await gateway.chat(customer, hello());
  const now = baseNow();
  const accepted = new Map([[organizationId, { base: now, stopped: false }]]);
  expect(look({ ...from(off), fixed: accepted }).violations).toEqual([]);
  await gateway.chat(customer, hello());
  expect(look({ ...from(off), fixed: accepted }).violations).toEqual([]);
});
