// Holds and charges, as every store must keep them: what is held, charged and returned, once each (money.md §2, §4).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ZERO_USD } from "../../../src/domain/money.ts";
import { exactPrice } from "../../../src/domain/price.ts";
import { PRICE, releaseOf } from "../world.ts";
import { readRequest, readUsageRows } from "../../../src/registry/requests.ts";
import type { Harness } from "./harness.ts";

export function holdsConformance(on: Harness): void {
  describe(`${on.store}: holds and charges`, () => {
    beforeAll(on.begin);
    afterAll(on.finish);

    test("a hold moves from available to held; settling takes the charge and returns the rest", async () => {
      const key = await on.customer(5);
      const { id, says, outcome } = await on.world.admit(key, { hold: 2 });
      expect(outcome).toMatchObject({ researchMode: false });
      expect([says, await on.world.balance(key.organizationId)]).toEqual(["admitted", "3.00 2.00"]);
      expect(await on.world.settle(key, id, { dollars: 0.75 })).toMatchObject({ kind: "done" });
      expect(await on.world.balance(key.organizationId)).toBe("4.25 0.00");
    });

    test("classes of tokens are stored with the charge that follows from them, and counted by the hour", async () => {
      const publishedPrice = {
        ...PRICE,
        cache_write_per_million: "12500",
        service_tiers: { flex: "0.5" },
        tiers: [
          {
            above_prompt_tokens: 100,
            input_per_million: "20000",
            cache_write_per_million: "25000",
            output_per_million: "20000",
          },
        ],
      };
      const price = exactPrice(publishedPrice);
      const release = releaseOf({ model: "classed", price, publishedPrice });
      await on.world.publish(release);
      const key = await on.customer(5);
      const { id } = await on.world.admit(key, { hold: 2, release });
      const usage = {
        promptTokens: 10,
        completionTokens: 0,
        cachedTokens: 2,
        reasoningTokens: null,
        cacheWriteTokens: 4,
        serviceTier: "flex",
      };
      // (4 × 0.01 + 2 × 0.01 + 4 × 0.0125) × 0.5
      expect(await on.world.settle(key, id, { dollars: 0.055, release, usage })).toMatchObject({
        kind: "done",
      });
      expect((await readRequest(on.ledger, id))?.usage).toEqual(usage);
      expect(await readUsageRows(on.ledger, key)).toMatchObject([
        { inputTokens: 10n, cachedTokens: 2n, cacheWriteTokens: 4n },
      ]);
    });

    test("a void returns the whole hold", async () => {
      const key = await on.customer(5);
      const { id } = await on.world.admit(key, { hold: 2 });
      await on.world.void(key, id, true);
      expect(await on.world.balance(key.organizationId)).toBe("5.00 0.00");
      expect(await readRequest(on.ledger, id)).toMatchObject({
        state: "released",
        charge: ZERO_USD,
        minimumApplied: false,
      });
    });

    test.each([
      [5, 5, "admitted"],
      [5, 5.01, "insufficient_credits"],
      [0, 0.01, "insufficient_credits"],
    ])("with %d a hold of %d is %s", async (credits, hold, says) => {
      expect((await on.world.admit(await on.customer(credits), { hold })).says).toBe(says);
    });

    test("a charge above the hold is a bug that changes nothing", async () => {
      const key = await on.customer(5);
      const { id } = await on.world.admit(key, { hold: 1 });
      expect(
        await on.world.settle(key, id, { dollars: 1.01 }).catch((error: unknown) => error),
      ).toBeInstanceOf(Error);
      expect(await on.world.balance(key.organizationId)).toBe("4.00 1.00");
      await on.world.void(key, id, true);
    });

    test("a settlement that is refused halfway changes nothing, and affects none beside it", async () => {
      const key = await on.customer(10);
      const [before, refused, after] = [
        await on.world.admit(key, { hold: 2 }),
        await on.world.admit(key, { hold: 2 }),
        await on.world.admit(key, { hold: 2 }),
      ];
      const usage = { promptTokens: 50, completionTokens: 0, cachedTokens: null, reasoningTokens: null };
      const settled = await Promise.allSettled([
        on.world.settle(key, before.id, { dollars: 1 }),
        on.world.settle(key, refused.id, { dollars: 0.5, usage: { ...usage, serviceTier: "two words" } }),
        on.world.settle(key, after.id, { dollars: 1 }),
      ]);
      expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect(await on.world.balance(key.organizationId)).toBe("6.00 2.00");
      expect((await on.ledger.verify()).violations).toEqual([]);
      await on.world.void(key, refused.id, true);
      expect(await on.world.balance(key.organizationId)).toBe("8.00 0.00");
    });

    test("a request is resolved once: a second resolution changes nothing", async () => {
      const key = await on.customer(5);
      const { id } = await on.world.admit(key, { hold: 1 });
      const both = await Promise.all([
        on.world.settle(key, id, { dollars: 0.5 }),
        on.world.settle(key, id, { dollars: 0.5 }),
        on.world.void(key, id, true),
      ]);
      expect(both.map(({ kind }) => kind).toSorted((a, b) => a.localeCompare(b))).toEqual([
        "done",
        "lost",
        "lost",
      ]);
      expect(await on.world.balance(key.organizationId)).toBe("4.50 0.00");
    });

    test("200 concurrently on credits for exactly 7: 7 are admitted", async () => {
      const key = await on.customer(7);
      const outcomes = await Promise.all(Array.from({ length: 200 }, () => on.world.admit(key, { hold: 1 })));
      expect(outcomes.filter(({ says }) => says === "admitted")).toHaveLength(7);
      expect(outcomes.filter(({ says }) => says === "insufficient_credits")).toHaveLength(193);
      await Promise.all(
        outcomes.filter(({ says }) => says === "admitted").map(({ id }) => on.world.void(key, id, true)),
      );
    });

    test("one organization's traffic never touches another's money", async () => {
      const [a, b] = [await on.customer(5), await on.customer(5)];
      const { id } = await on.world.admit(a, { hold: 3 });
      expect(await on.world.settle(b, id, { dollars: 1 })).toEqual({ kind: "lost" });
      expect([await on.world.balance(a.organizationId), await on.world.balance(b.organizationId)]).toEqual([
        "2.00 3.00",
        "5.00 0.00",
      ]);
      await on.world.void(a, id, true);
    });

    test("an operation that contradicts itself fails alone; its batch goes on", async () => {
      const key = await on.customer(5);
      const { id } = await on.world.admit(key, { hold: 1 });
      const [bad, good] = await Promise.allSettled([
        on.world.settle(key, id, { dollars: 2 }),
        on.world.admit(key, { hold: 1 }),
      ]);
      expect([bad.status, good.status]).toEqual(["rejected", "fulfilled"]);
      await on.world.void(key, id, true);
      if (good.status === "fulfilled") await on.world.void(key, good.value.id, true);
    });

    test("random histories end with the same result as a model of one line per rule", async () => {
      const step = fc.record({
        what: fc.constantFrom("admit", "settle", "void", "top_up"),
        cents: fc.integer({ min: 1, max: 300 }),
        pick: fc.nat(5),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
          const key = await on.customer(3);
          const model = { available: 300, held: 0 };
          const open: { id: string; hold: number }[] = [];
          for (const { what, cents, pick } of steps) {
            const chosen = open[pick % Math.max(open.length, 1)];
            if (what === "top_up") {
              await on.world.topUp(key.organizationId, cents / 100);
              model.available += cents;
            } else if (what === "admit") {
              const { id, says } = await on.world.admit(key, { hold: cents / 100 });
              expect(says).toBe(cents <= model.available ? "admitted" : "insufficient_credits");
              if (says !== "admitted") continue;
              open.push({ id, hold: cents });
              model.available -= cents;
              model.held += cents;
            } else if (chosen !== undefined) {
              const charge = what === "void" ? 0 : Math.min(cents, chosen.hold);
              if (what === "void") await on.world.void(key, chosen.id, true);
              else await on.world.settle(key, chosen.id, { dollars: charge / 100 });
              model.held -= chosen.hold;
              model.available += chosen.hold - charge;
              open.splice(open.indexOf(chosen), 1);
            }
          }
          expect(await on.world.balance(key.organizationId)).toBe(
            `${(model.available / 100).toFixed(2)} ${(model.held / 100).toFixed(2)}`,
          );
          await Promise.all(open.map(({ id }) => on.world.void(key, id, true)));
        }),
        { numRuns: 25 },
      );
    });
  });
}
