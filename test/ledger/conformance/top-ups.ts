// Incoming credits, as every store must keep them: a reference credits once (money.md §4).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Harness } from "./harness.ts";

export function topUpsConformance(on: Harness): void {
  describe(`${on.store}: top-ups`, () => {
    beforeAll(on.begin);
    afterAll(on.finish);

    test("the same reference credits once, and with another amount it is a conflict", async () => {
      const organizationId = await on.world.organization(0);
      const externalId = "payment-1";
      const outcomes = await Promise.all(
        [1, 2, 3].map(() => on.world.topUp(organizationId, 5, { externalId })),
      );
      expect(outcomes.map(({ kind }) => kind)).toEqual(["credited", "repeated", "repeated"]);
      expect(await on.world.topUp(organizationId, 6, { externalId })).toEqual({ kind: "conflict" });
      expect(await on.world.balance(organizationId)).toBe("5.00 0.00");
    });

    test("a purchase makes a paid workspace, a grant does not", async () => {
      const granted = await on.world.organization(5, "grant");
      expect((await on.ledger.balance(granted))?.paidWorkspace).toBe(false);
      await on.world.topUp(granted, 1);
      expect((await on.ledger.balance(granted))?.paidWorkspace).toBe(true);
    });

    test("an unknown account is not credited", async () => {
      expect(await on.world.topUp("org_nobody", 5)).toEqual({ kind: "unknown_organization" });
    });

    test("a top-up in the midst of 100 admissions is counted exactly", async () => {
      const key = await on.customer(10);
      const [admissions] = await Promise.all([
        Promise.all(Array.from({ length: 100 }, () => on.world.admit(key, { hold: 0.5 }))),
        on.world.topUp(key.organizationId, 10),
      ]);
      const admitted = admissions.filter(({ says }) => says === "admitted");
      expect(admitted.length).toBeLessThanOrEqual(40);
      await Promise.all(admitted.map(({ id }) => on.world.void(key, id, true)));
      expect(await on.world.balance(key.organizationId)).toBe("20.00 0.00");
    });
  });
}
