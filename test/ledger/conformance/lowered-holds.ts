// Holds that are lowered while they run, as every store must keep them: once, only downwards, in the commit that asks
// (money.md §6).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { nanoUsd } from "../../../src/domain/money.ts";
import { OF_LOWERED } from "../world.ts";
import { findKey } from "../../../src/registry/api-keys.ts";
import { readRequest } from "../../../src/registry/requests.ts";
import type { Harness } from "./harness.ts";

export function loweredHoldsConformance(on: Harness): void {
  describe(`${on.store}: holds that are lowered while they run`, () => {
    beforeAll(on.begin);
    afterAll(on.finish);

    test("what is lowered makes room in the same commit, for credits and for the key's limit", async () => {
      const key = await on.customer(5, { limit: 5 });
      const first = await on.world.admit(key, { hold: 5 });
      expect((await on.world.admit(key, { hold: 3 })).says).toBe("key_spend_limit_reached");
      const second = await on.world.admit(key, { hold: 3, lower: [{ id: first.id, to: 2 }] });
      expect([second.says, await on.world.balance(key.organizationId)]).toEqual(["admitted", "0.00 5.00"]);
      expect(await readRequest(on.ledger, first.id)).toMatchObject({
        hold: 2_000_000_000n,
        promptBound: 100,
      });
      expect((await findKey(on.ledger, key.keyId))?.held).toBe(nanoUsd(5_000_000_000n));
      await on.world.settle(key, first.id, { dollars: 2, usage: OF_LOWERED });
      await on.world.void(key, second.id, true);
      expect(await on.world.balance(key.organizationId)).toBe("3.00 0.00");
    });

    test("many concurrently: room for exactly one, and no account is below zero in between", async () => {
      const key = await on.customer(4);
      const first = await on.world.admit(key, { hold: 4 });
      const lower = [{ id: first.id, to: 1 }];
      const asked = Array.from({ length: 20 }, () => on.world.admit(key, { hold: 3, lower }));
      const said = (await Promise.all(asked)).map(({ says }) => says);
      expect(said.filter((says) => says === "admitted")).toHaveLength(1);
      expect(await on.world.balance(key.organizationId)).toBe("0.00 4.00");
      await on.world.settle(key, first.id, { dollars: 1 });
    });

    test("if two ask for it in one commit, the first one lowers it", async () => {
      const key = await on.customer(4);
      const { id } = await on.world.admit(key, { hold: 4 });
      const ask = (to: number) => on.world.admit(key, { hold: 9, lower: [{ id, to }] });
      await Promise.all([ask(2), ask(1)]);
      expect(await on.world.balance(key.organizationId)).toBe("2.00 2.00");
      await on.world.void(key, id, true);
    });

    test("nobody lowers a hold of another organization", async () => {
      const [mine, theirs] = [await on.customer(5), await on.customer(5)];
      const { id } = await on.world.admit(theirs, { hold: 4 });
      const admission = on.world.admission(mine, { hold: 1, lower: [{ id, to: 1 }] });
      const lowerings = (admission.lowerings ?? []).map((one) => ({
        ...one,
        organizationId: theirs.organizationId,
      }));
      const asked = on.ledger.admit({ ...admission, lowerings }).catch((error: unknown) => error);
      expect(await asked).toBeInstanceOf(Error);
      expect([
        await on.world.balance(mine.organizationId),
        await on.world.balance(theirs.organizationId),
      ]).toEqual(["5.00 0.00", "1.00 4.00"]);
      await on.world.void(theirs, id, true);
    });

    test("once, only downwards, and not after the end; it stays lowered when the one who asked is refused", async () => {
      const key = await on.customer(5);
      const first = await on.world.admit(key, { hold: 4 });
      const ask = (to: number) => on.world.admit(key, { hold: 9, lower: [{ id: first.id, to }] });
      for (const [to, balance] of [
        [4.5, "1.00 4.00"],
        [3, "2.00 3.00"],
        [1, "2.00 3.00"],
      ] as const) {
        expect((await ask(to)).says).toBe("insufficient_credits");
        expect(await on.world.balance(key.organizationId)).toBe(balance);
      }
      await on.world.settle(key, first.id, { dollars: 2, usage: OF_LOWERED });
      await ask(0.5);
      expect(await on.world.balance(key.organizationId)).toBe("3.00 0.00");
    });

    test("a charge above the lowered hold is a bug that changes nothing", async () => {
      const key = await on.customer(5);
      const { id } = await on.world.admit(key, { hold: 4 });
      await on.world.admit(key, { hold: 9, lower: [{ id, to: 1 }] });
      const settled = on.world.settle(key, id, { dollars: 1.01 }).catch((error: unknown) => error);
      expect(await settled).toBeInstanceOf(Error);
      expect(await on.world.balance(key.organizationId)).toBe("4.00 1.00");
      await on.world.void(key, id, true);
      expect(await on.world.balance(key.organizationId)).toBe("5.00 0.00");
    });

    test("a settlement makes good the lowering that did not come about, and repeats none that did", async () => {
      const key = await on.customer(5);
      const [lost, done] = [await on.world.admit(key, { hold: 2 }), await on.world.admit(key, { hold: 2 })];
      await on.world.admit(key, { hold: 9, lower: [{ id: done.id, to: 1 }] });
      for (const { id } of [lost, done])
        expect(await on.world.settle(key, id, { dollars: 1, lowered: 1 })).toMatchObject({ kind: "done" });
      expect(await on.world.balance(key.organizationId)).toBe("3.00 0.00");
      for (const { id } of [lost, done])
        expect(await readRequest(on.ledger, id)).toMatchObject({ hold: 1_000_000_000n, promptBound: 100 });
    });

    test("what is released pays what is owed first", async () => {
      const key = await on.customer(5);
      const { id } = await on.world.admit(key, { hold: 4 });
      await on.world.reverse(key.organizationId, { dollars: 3, kind: "chargeback", target: "pi_1" });
      expect((await on.world.admit(key, { hold: 1, lower: [{ id, to: 1 }] })).says).toBe("admitted");
      expect(await on.world.balance(key.organizationId)).toBe("0.00 2.00");
    });

    test("a process that dies behind the lowering leaves what it held then; all of that goes back", async () => {
      const key = await on.customer(5);
      const { id } = await on.world.admit(key, { hold: 5 });
      await on.world.admit(key, { hold: 3, lower: [{ id, to: 2 }] });
      on.world.ledger = await on.opened.crash();
      expect(await on.world.balance(key.organizationId)).toBe("5.00 0.00");
    });
  });
}
