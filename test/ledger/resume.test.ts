// What an operator accepts by resuming a stopped organization: exactly the findings in its entries up to then, wherever
// in its chain they are (docs/decisions/0091-accepted-findings.md).
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { STORE_FILE } from "../../src/domain/data-files.ts";
import { checkBooks } from "../../src/ledger/verify/books.ts";
import { CHAIN_BEGIN } from "../../src/ledger/verify/chain.ts";
import { runOnSqlite } from "../../src/store/sqlite-sql.ts";
import { type Customer, hello, startGateway, STORES, type TestGateway } from "../support/gateway.ts";

interface Found {
  invariant: string;
  org: string;
  expected: string;
  found: string;
}

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ store, booksEveryMs: 3_600_000 });
    if (store === "sqlite") await gateway.tamper("DROP TRIGGER ledger_entry_no_update");
  });
  afterAll(() => gateway.stop());

  const balance = (org: string, by: number): Promise<void> =>
    gateway.tamper(`UPDATE org_balance SET available = available + ${by} WHERE org_id = ?1`, org);
  const look = (): Promise<void> => gateway.ledger.checkBooks([]);
  const resume = async (org: string): Promise<number> =>
    (await gateway.admin("POST", `/ledger/stopped/${org}/resume`, { reason: "changed by hand" })).status;
  async function audit(): Promise<{ ok: boolean; violations: Found[]; accepted: Found[] }> {
    const { status, json } = await gateway.admin<Awaited<ReturnType<typeof audit>>>("GET", "/ledger/audit");
    expect(status).toBe(200);
    return json;
  }
  const of = ({ organizationId }: Customer, found: Found[]): Found[] =>
    found.filter(({ org }) => org === organizationId);

  /** An organization that was resumed after calls on a balance that was too high. */
  async function resumed(): Promise<Customer> {
    const victim = await gateway.customer({ usd: "20" });
    await balance(victim.organizationId, 5_000);
    expect((await gateway.chat(victim, hello())).status).toBe(200);
    await look();
    expect((await gateway.chat(victim, hello())).status).toBe(503);
    await balance(victim.organizationId, -5_000);
    expect(await resume(victim.organizationId)).toBe(200);
    return victim;
  }

  test("findings further back than the check that stopped it goes are accepted, too", async () => {
    const victim = await gateway.customer({ usd: "20" });
    const { organizationId } = victim;
    await balance(organizationId, 5_000);
    await gateway.chat(victim, hello()); // its first entry does not join
    await balance(organizationId, -5_000);
    for (let n = 0; n < 60; n += 1) await gateway.chat(victim, hello()); // two entries each
    await gateway.restart();
    await look(); // 100 entries back: nothing
    expect((await gateway.chat(victim, hello())).status).toBe(200);
    await balance(organizationId, 7_000);
    await look();
    expect((await gateway.chat(victim, hello())).status).toBe(503);
    await balance(organizationId, -7_000);
    if ((await gateway.chat(victim, hello())).status === 503) expect(await resume(organizationId)).toBe(200);
    const { violations, accepted } = await audit();
    expect(of(victim, violations)).toEqual([]);
    expect(of(victim, accepted).map(({ invariant }) => invariant)).toEqual(["I5 rows join", "I5 rows join"]);
  });

  test("a check of the whole chain finds nothing in what was accepted, but everything else", async () => {
    const victim = await resumed();
    const { organizationId } = victim;
    const namedByAudit = async (): Promise<string[]> =>
      of(victim, (await audit()).violations).map(({ invariant }) => invariant);
    expect(await namedByAudit()).toEqual([]);
    if (store === "sqlite") expect(fromTheBeginning(organizationId)).toEqual([]);
    const changeOther = (sign: string): Promise<void> =>
      gateway.tamper(
        `UPDATE ledger_entry SET requests = requests ${sign} 1 WHERE org_id = ?1 AND version = 1`,
        organizationId,
      );
    await changeOther("+");
    if (store === "sqlite") expect(fromTheBeginning(organizationId)).toEqual(["I5 hash chain"]);
    expect(await namedByAudit()).toEqual(["I5 hash chain"]);
    await changeOther("-");
    expect(await namedByAudit()).toEqual([]);
    expect((await gateway.chat(victim, hello())).status).toBe(200);
  });

  function fromTheBeginning(organizationId: string): string[] {
    const database = new Database(join(gateway.dataDir, STORE_FILE), { safeIntegers: true });
    try {
      const fixed = new Map([[organizationId, { base: CHAIN_BEGIN, stopped: true }]]);
      const { violations } = runOnSqlite(database, checkBooks({ bases: new Map(), fixed }));
      return violations
        .filter((one) => one.organizationId === organizationId)
        .map(({ invariant }) => invariant);
    } finally {
      database.close();
    }
  }

  test("a damaged record accepts only what can be read of it, and the audit goes on", async () => {
    const victim = await resumed();
    const whole = of(victim, (await audit()).accepted);
    expect(whole.length).toBeGreaterThan(0);
    const [row] = (
      (await gateway.rowsOf("stopped_organization")) as { org_id: string; accepted: string }[]
    ).filter(({ org_id }) => org_id === victim.organizationId);
    const kept = row?.accepted ?? "";
    const [first] = JSON.parse(kept) as [object];
    const damaged = [
      "[null]",
      "{",
      "null",
      "{}",
      '["x", 7, [], {}]',
      JSON.stringify([{ ...first, expected: 5 }]),
      JSON.stringify([{ ...first, invariant: null }]),
    ];
    const keep = (record: string): Promise<void> =>
      gateway.tamper(
        "UPDATE stopped_organization SET accepted = ?2 WHERE org_id = ?1",
        victim.organizationId,
        record,
      );
    for (const record of damaged) {
      await keep(record);
      const { ok, violations, accepted } = await audit();
      expect([record, ok, of(victim, accepted), of(victim, violations).length]).toEqual([
        record,
        false,
        [],
        whole.length,
      ]);
    }
    await keep(JSON.stringify([null, ...(JSON.parse(kept) as object[])]));
    const { ok, accepted, violations } = await audit();
    expect([ok, of(victim, accepted), violations]).toEqual([true, whole, []]);
    await look();
    expect((await gateway.chat(victim, hello())).status).toBe(200);
  });
});
