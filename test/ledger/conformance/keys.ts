// Keys and their limits, as every store must keep them: a revocation and a limit apply to the very next admission
// (money.md §7).
import { byItself } from "../../../src/domain/actor.ts";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mintKey } from "../../../src/registry/secret.ts";
import { newId } from "../../../src/lib/id.ts";
import { changeKey, createKey, findKey } from "../../../src/registry/api-keys.ts";
import { revokeKey } from "../../../src/registry/key-life.ts";
import { readRequest } from "../../../src/registry/requests.ts";
import type { Harness } from "./harness.ts";
import { keysOf } from "../../support/registry-reads.ts";

export function keysConformance(on: Harness): void {
  describe(`${on.store}: keys and limits`, () => {
    beforeAll(on.begin);
    afterAll(on.finish);

    test("an organization has only so many live keys; a revoked one makes room, and lists are limited", async () => {
      const [org, other] = [await on.world.organization(0), await on.world.organization(0)];
      const make = async (organizationId: string): Promise<string> => {
        const id = newId("key");
        const { value: _, ...minted } = mintKey({ organizationId, keyId: id });
        const key = {
          id,
          organizationId,
          name: "k",
          ...minted,
          scope: "standard",
          limit: null,
        } as const;
        const made = await createKey(on.ledger, key, byItself("test"));
        return typeof made === "string" ? made : (made?.id ?? "no organization");
      };
      // A few at a time, because a store's queue is limited.
      const each = async <T>(all: T[], work: (one: T) => Promise<unknown>): Promise<void> => {
        for (let at = 0; at < all.length; at += 50) await Promise.all(all.slice(at, at + 50).map(work));
      };
      const first: string[] = [];
      await each(Array.from({ length: 1_005 }), async () => first.push(await make(org)));
      const made = first.filter((id) => id.startsWith("key_"));
      expect([made.length, first.filter((id) => id === "too_many_keys").length]).toEqual([1_000, 5]);
      expect(await make(other)).toStartWith("key_");
      expect(await keysOf(on.ledger, org)).toHaveLength(1_000);
      const revoke = (ids: string[]): Promise<void> =>
        each(ids, (id) => revokeKey(on.ledger, id, byItself("test")));
      const [oldest = ""] = made;
      await revoke([oldest]);
      expect([await make(org), await make(org)]).toEqual([expect.stringMatching(/^key_/), "too_many_keys"]);
      on.clock.advance(1);
      await revoke(made.slice(1, 601));
      const listed = await keysOf(on.ledger, org);
      expect([listed.length, listed.filter(({ revokedAtMs }) => revokedAtMs === null).length]).toEqual([
        1_001, 400,
      ]);
      expect(await findKey(on.ledger, oldest)).toMatchObject({ id: oldest, organizationId: org });
    }, 120_000);

    test("unknown, wrong and revoked keys", async () => {
      const key = await on.customer(5);
      const wrong = { ...key, digest: new Uint8Array(32) };
      expect((await on.world.admit({ ...key, keyId: "key_nobody" }, { hold: 1 })).says).toBe(
        "invalid_api_key",
      );
      expect((await on.world.admit(wrong, { hold: 1 })).says).toBe("invalid_api_key");
      await revokeKey(on.ledger, key.keyId, byItself("test"));
      expect((await on.world.admit(key, { hold: 1 })).says).toBe("api_key_revoked");
      expect((await on.world.admit(wrong, { hold: 1 })).says).toBe("invalid_api_key");
    });

    test("a revocation holds on the very next admission, a thousand times in a row", async () => {
      // Four organizations at a time, so that one's commits coincide with others' requests.
      const inTurn = async (): Promise<void> => {
        const organizationId = await on.world.organization(5);
        for (let round = 0; round < 250; round += 1) {
          const key = await on.world.key(organizationId);
          await revokeKey(on.ledger, key.keyId, byItself("test"));
          expect((await on.world.admit(key, { hold: 0.01 })).says).toBe("api_key_revoked");
        }
      };
      await Promise.all(Array.from({ length: 4 }, inTurn));
    }, 120_000);

    test("a revoked key stays revoked, with the time of its first revocation", async () => {
      const key = await on.customer(5);
      const first = await revokeKey(on.ledger, key.keyId, byItself("test"));
      on.clock.advance(1000);
      const second = await revokeKey(on.ledger, key.keyId, byItself("test"));
      expect(second?.revokedAtMs).toBe(first?.revokedAtMs ?? 0);
    });

    test.each([
      [1, [0.5, 0.5], "key_spend_limit_reached"],
      [1, [0.6, 0.6], "key_spend_limit_reached"],
      [1, [0.5], "admitted"],
    ])("a limit of %d with open holds of %p: the next one is %s", async (limit, holds, says) => {
      const key = await on.customer(5, { limit });
      const open = [];
      for (const hold of holds) open.push(await on.world.admit(key, { hold }));
      const next = await on.world.admit(key, { hold: 0.1 });
      expect(next.says).toBe(says);
      await Promise.all([...open, next].map(({ id }) => on.world.void(key, id, true)));
    });

    test("a limit of 6.5 holds admits exactly 7 of 200", async () => {
      const key = await on.customer(100, { limit: 6.5 });
      const outcomes = await Promise.all(Array.from({ length: 200 }, () => on.world.admit(key, { hold: 1 })));
      expect(outcomes.filter(({ says }) => says === "admitted")).toHaveLength(7);
      await Promise.all(outcomes.map(({ id }) => on.world.void(key, id, true)));
    });

    test("raising the limit opens the key at once, lowering it closes it at once", async () => {
      const key = await on.customer(5, { limit: 0.5 });
      const { id } = await on.world.admit(key, { hold: 1 });
      await on.world.settle(key, id, { dollars: 0.5 });
      expect((await on.world.admit(key, { hold: 0.1 })).says).toBe("key_spend_limit_reached");
      await changeKey(on.ledger, key.keyId, { limit: null }, byItself("test"));
      const open = await on.world.admit(key, { hold: 0.1 });
      expect(open.says).toBe("admitted");
      await on.world.void(key, open.id, true);
    });

    test("the month turns without a job; holds and charges stay in the month of their admission", async () => {
      on.clock.set("2030-03-31T23:59:59Z");
      const key = await on.customer(5, { limit: 0.5 });
      const { id } = await on.world.admit(key, { hold: 1 });
      expect((await on.world.admit(key, { hold: 0.1 })).says).toBe("key_spend_limit_reached");
      on.clock.set("2030-04-01T00:00:00Z");
      const april = await on.world.admit(key, { hold: 0.1 });
      expect(april.says).toBe("admitted");
      await on.world.settle(key, id, { dollars: 0.5 });
      await on.world.settle(key, april.id, { dollars: 0.1 });
      const record = await findKey(on.ledger, key.keyId);
      expect([record?.month, record?.monthSpend, record?.held]).toEqual([
        "2030-04",
        100_000_000n,
        0n,
      ] as never);
      expect((await readRequest(on.ledger, id))?.month).toBe("2030-03");
    });

    test("a clock that is set back a little neither moves months nor stamps", async () => {
      on.clock.set("2030-06-01T00:00:01Z");
      const key = await on.customer(5);
      const first = await on.world.admit(key, { hold: 1 });
      on.clock.set("2030-05-31T23:59:58Z");
      const second = await on.world.admit(key, { hold: 1 });
      const [a, b] = [await readRequest(on.ledger, first.id), await readRequest(on.ledger, second.id)];
      expect(b?.month).toBe("2030-06");
      expect((b?.admittedAtMs ?? 0) >= (a?.admittedAtMs ?? 0)).toBe(true);
      await Promise.all([first, second].map(({ id }) => on.world.void(key, id, true)));
    });
  });
}
