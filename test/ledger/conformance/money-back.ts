// Chargebacks and refunds, as every store must keep them: never more than was paid, debt before credits (money.md
// §4).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { nanoUsd } from "../../../src/domain/money.ts";
import type { Harness } from "./harness.ts";

export function moneyBackConformance(on: Harness): void {
  describe(`${on.store}: money that goes back`, () => {
    beforeAll(on.begin);
    afterAll(on.finish);
    const payment = "pi_1";

    test("a chargeback takes what is available; the rest is debt, and admission stops until it is paid", async () => {
      const key = await on.customer(5);
      const { id } = await on.world.admit(key, { hold: 3 });
      await on.world.settle(key, id, { dollars: 3 });
      expect(
        await on.world.reverse(key.organizationId, { dollars: 5, kind: "chargeback", target: payment }),
      ).toMatchObject({ kind: "reversed", balance: 0n, debt: 3_000_000_000n });
      expect((await on.world.admit(key, { hold: 0 })).says).toBe("insufficient_credits");
      await on.world.topUp(key.organizationId, 2);
      expect([await on.world.balance(key.organizationId), await on.world.debt(key.organizationId)]).toEqual([
        "0.00 0.00",
        "1.00",
      ]);
      await on.world.topUp(key.organizationId, 2);
      expect((await on.world.admit(key, { hold: 1 })).says).toBe("admitted");
    });

    test("credits that a request holds are not taken from it; what it returns pays the debt", async () => {
      const key = await on.customer(5);
      const { id } = await on.world.admit(key, { hold: 4 });
      await on.world.reverse(key.organizationId, { dollars: 5, kind: "chargeback", target: payment });
      expect([await on.world.balance(key.organizationId), await on.world.debt(key.organizationId)]).toEqual([
        "0.00 4.00",
        "4.00",
      ]);
      await on.world.settle(key, id, { dollars: 1 });
      expect([await on.world.balance(key.organizationId), await on.world.debt(key.organizationId)]).toEqual([
        "0.00 0.00",
        "1.00",
      ]);
    });

    test("one reference is taken back once; with another amount or target it is a conflict", async () => {
      const { organizationId } = await on.customer(5);
      const chargeback = { dollars: 1, kind: "chargeback", target: payment, externalId: "dp_1" } as const;
      const outcomes = await Promise.all([1, 2, 3].map(() => on.world.reverse(organizationId, chargeback)));
      expect(outcomes.map(({ kind }) => kind)).toEqual(["reversed", "repeated", "repeated"]);
      expect(await on.world.reverse(organizationId, { ...chargeback, dollars: 2 })).toEqual({
        kind: "conflict",
      });
      expect(await on.world.reverse(organizationId, { ...chargeback, target: "pi_2" })).toEqual({
        kind: "conflict",
      });
      expect(await on.world.balance(organizationId)).toBe("4.00 0.00");
    });

    test("a chargeback takes at most what was ever paid", async () => {
      const { organizationId } = await on.customer(5);
      await on.world.topUp(organizationId, 5, { kind: "grant" });
      expect(
        await on.world.reverse(organizationId, { dollars: 6, kind: "chargeback", target: payment }),
      ).toEqual({ kind: "exceeds", atMost: nanoUsd(5_000_000_000n) });
      expect(
        await on.world.reverse("org_nobody", { dollars: 1, kind: "chargeback", target: payment }),
      ).toEqual({
        kind: "unknown_organization",
      });
    });

    test("a refund returns what a request cost, in parts, never more", async () => {
      const key = await on.customer(5);
      const beside = await on.world.admit(key, { hold: 2 });
      await on.world.settle(key, beside.id, { dollars: 2 });
      const { id } = await on.world.admit(key, { hold: 3 });
      await on.world.settle(key, id, { dollars: 2 });
      const { organizationId } = key;
      const refund = { kind: "refund", target: id } as const;
      const both = await Promise.all([
        on.world.reverse(organizationId, { ...refund, dollars: 1.5 }),
        on.world.reverse(organizationId, { ...refund, dollars: 1.5 }),
      ]);
      expect(both.map(({ kind }) => kind)).toEqual(["reversed", "exceeds"]);
      expect(await on.world.reverse(organizationId, { ...refund, dollars: 1 })).toEqual({
        kind: "exceeds",
        atMost: nanoUsd(500_000_000n),
      });
      await on.world.reverse(organizationId, { ...refund, dollars: 0.5 });
      expect(await on.world.balance(organizationId)).toBe("3.00 0.00");
      expect((await on.ledger.balance(organizationId))?.spent).toBe(nanoUsd(2_000_000_000n));
    });

    test("zero and negative amounts neither go back nor come in", async () => {
      const { organizationId } = await on.customer(5);
      for (const dollars of [0, -1]) {
        const reversed = on.world.reverse(organizationId, { dollars, kind: "chargeback", target: payment });
        expect(await reversed.catch((error: unknown) => error)).toBeInstanceOf(Error);
        const toppedUp = on.world.topUp(organizationId, dollars);
        expect(await toppedUp.catch((error: unknown) => error)).toBeInstanceOf(Error);
      }
      expect(await on.world.balance(organizationId)).toBe("5.00 0.00");
    });

    test("a request that runs, was released, or belongs to another organization is not refunded", async () => {
      const [key, other] = [await on.customer(5), await on.customer(5)];
      const { id } = await on.world.admit(key, { hold: 1 });
      const refund = { kind: "refund", target: id, dollars: 1 } as const;
      expect(await on.world.reverse(key.organizationId, refund)).toEqual({ kind: "unknown_request" });
      await on.world.settle(key, id, { dollars: 1 });
      expect(await on.world.reverse(other.organizationId, refund)).toEqual({ kind: "unknown_request" });
    });
  });
}
