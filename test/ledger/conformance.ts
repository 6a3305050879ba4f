// What every store must keep, whatever it is made of (money.md §2, §4, §7, §8, §10): the same tables run on each. Amounts
// are dollars.
import { byItself } from "../../src/domain/actor.ts";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { nanoUsd, ZERO_USD } from "../../src/domain/money.ts";
import { exactPrice } from "../../src/domain/price.ts";
import { versionOf } from "../../src/domain/row-version.ts";
import { mintKey } from "../../src/registry/secret.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { newId } from "../../src/lib/id.ts";
import { testClock } from "../support/clock.ts";
import {
  BEGUN,
  type KeyInHand,
  type OpenLedger,
  type Opened,
  jwsOf,
  OF_LOWERED,
  PRICE,
  releaseOf,
  saysOf,
  World,
} from "./world.ts";
import { changeKey, createKey, findKey, keysOf } from "../../src/registry/api-keys.ts";
import { revokeKey } from "../../src/registry/key-life.ts";
import {
  approveEntitlement,
  closeRequest,
  findEntitlement,
  activeEntitlements,
  listEntitlements,
  requestEntitlement,
  revokeEntitlement,
} from "../../src/registry/entitlements.ts";
import {
  authenticateManagementKey,
  createManagementKey,
  ownerOfManagementKey,
  revokeManagementKey,
} from "../../src/registry/management-keys.ts";
import { findOrganization, renameOrganization } from "../../src/registry/organizations.ts";
import { publishRelease, setRouteDisabled } from "../../src/registry/releases.ts";
import { readRequest, readUsageRows } from "../../src/registry/requests.ts";
import { ask, type Query, textOf } from "../../src/store/sql.ts";
import { auditLog } from "../support/audit-log.ts";

export function ledgerConformance(store: string, open: OpenLedger): void {
  const clock = testClock();
  let opened: Opened;
  let world: World;
  let ledger: Ledger;
  const begin = async (): Promise<void> => {
    opened = await open(clock);
    ledger = opened.ledger;
    world = new World(ledger);
    await world.publish();
  };
  const finish = async (): Promise<void> => {
    const report = await world.ledger.verify();
    // Clocks jump by years here; what has expired is swept away by a timer, in its own time.
    const standing = report.violations.filter(({ invariant }) => !invariant.startsWith("I17"));
    expect(standing).toEqual([]);
    await opened.close();
  };
  const customer = async (
    dollars: number,
    terms: { limit?: number; scope?: "standard" | "research" } = {},
  ): Promise<KeyInHand> => world.key(await world.organization(dollars), terms);

  describe(`${store}: holds and charges`, () => {
    beforeAll(begin);
    afterAll(finish);

    test("a hold moves from available to held; settling takes the charge and returns the rest", async () => {
      const key = await customer(5);
      const { id, says } = await world.admit(key, { hold: 2 });
      expect([says, await world.balance(key.organizationId)]).toEqual(["admitted", "3.00 2.00"]);
      expect(await world.settle(key, id, { dollars: 0.75 })).toMatchObject({ kind: "done" });
      expect(await world.balance(key.organizationId)).toBe("4.25 0.00");
    });

    test("classes of tokens are kept with the charge that follows from them, and counted by the hour", async () => {
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
      await world.publish(release);
      const key = await customer(5);
      const { id } = await world.admit(key, { hold: 2, release });
      const usage = {
        promptTokens: 10,
        completionTokens: 0,
        cachedTokens: null,
        reasoningTokens: null,
        cacheWriteTokens: 4,
        serviceTier: "flex",
      };
      // (6 × 0.01 + 4 × 0.0125) × 0.5
      expect(await world.settle(key, id, { dollars: 0.055, release, usage })).toMatchObject({ kind: "done" });
      expect((await readRequest(ledger, id))?.usage).toEqual(usage);
      expect(await readUsageRows(ledger, key)).toMatchObject([{ inputTokens: 10n, cacheWriteTokens: 4n }]);
    });

    test("a void returns the whole hold", async () => {
      const key = await customer(5);
      const { id } = await world.admit(key, { hold: 2 });
      await world.void(key, id, true);
      expect(await world.balance(key.organizationId)).toBe("5.00 0.00");
      expect((await readRequest(ledger, id))?.state).toBe("released");
    });

    test.each([
      [5, 5, "admitted"],
      [5, 5.01, "insufficient_credits"],
      [0, 0.01, "insufficient_credits"],
    ])("with %d a hold of %d is %s", async (credits, hold, says) => {
      expect((await world.admit(await customer(credits), { hold })).says).toBe(says);
    });

    test("a charge above the hold is a bug that changes nothing", async () => {
      const key = await customer(5);
      const { id } = await world.admit(key, { hold: 1 });
      expect(await world.settle(key, id, { dollars: 1.01 }).catch((error: unknown) => error)).toBeInstanceOf(
        Error,
      );
      expect(await world.balance(key.organizationId)).toBe("4.00 1.00");
      await world.void(key, id, true);
    });

    test("a settlement that is refused halfway changes nothing, and spoils none beside it", async () => {
      const key = await customer(10);
      const [before, refused, after] = [
        await world.admit(key, { hold: 2 }),
        await world.admit(key, { hold: 2 }),
        await world.admit(key, { hold: 2 }),
      ];
      const usage = { promptTokens: 50, completionTokens: 0, cachedTokens: null, reasoningTokens: null };
      const settled = await Promise.allSettled([
        world.settle(key, before.id, { dollars: 1 }),
        world.settle(key, refused.id, { dollars: 0.5, usage: { ...usage, serviceTier: "two words" } }),
        world.settle(key, after.id, { dollars: 1 }),
      ]);
      expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect(await world.balance(key.organizationId)).toBe("6.00 2.00");
      expect((await ledger.verify()).violations).toEqual([]);
      await world.void(key, refused.id, true);
      expect(await world.balance(key.organizationId)).toBe("8.00 0.00");
    });

    test("a request is resolved once: whoever comes second changes nothing", async () => {
      const key = await customer(5);
      const { id } = await world.admit(key, { hold: 1 });
      const both = await Promise.all([
        world.settle(key, id, { dollars: 0.5 }),
        world.settle(key, id, { dollars: 0.5 }),
        world.void(key, id, true),
      ]);
      expect(both.map(({ kind }) => kind).toSorted((a, b) => a.localeCompare(b))).toEqual([
        "done",
        "lost",
        "lost",
      ]);
      expect(await world.balance(key.organizationId)).toBe("4.50 0.00");
    });

    test("200 at once on credits for exactly 7: 7 are admitted", async () => {
      const key = await customer(7);
      const outcomes = await Promise.all(Array.from({ length: 200 }, () => world.admit(key, { hold: 1 })));
      expect(outcomes.filter(({ says }) => says === "admitted")).toHaveLength(7);
      expect(outcomes.filter(({ says }) => says === "insufficient_credits")).toHaveLength(193);
      await Promise.all(
        outcomes.filter(({ says }) => says === "admitted").map(({ id }) => world.void(key, id, true)),
      );
    });

    test("one organization's traffic never touches another's money", async () => {
      const [a, b] = [await customer(5), await customer(5)];
      const { id } = await world.admit(a, { hold: 3 });
      expect(await world.settle(b, id, { dollars: 1 })).toEqual({ kind: "lost" });
      expect([await world.balance(a.organizationId), await world.balance(b.organizationId)]).toEqual([
        "2.00 3.00",
        "5.00 0.00",
      ]);
      await world.void(a, id, true);
    });

    test("an operation that contradicts itself fails alone; its batch goes on", async () => {
      const key = await customer(5);
      const { id } = await world.admit(key, { hold: 1 });
      const [bad, good] = await Promise.allSettled([
        world.settle(key, id, { dollars: 2 }),
        world.admit(key, { hold: 1 }),
      ]);
      expect([bad.status, good.status]).toEqual(["rejected", "fulfilled"]);
      await world.void(key, id, true);
      if (good.status === "fulfilled") await world.void(key, good.value.id, true);
    });

    test("random histories end where a model of one line per rule ends", async () => {
      const step = fc.record({
        what: fc.constantFrom("admit", "settle", "void", "top_up"),
        cents: fc.integer({ min: 1, max: 300 }),
        pick: fc.nat(5),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
          const key = await customer(3);
          const model = { available: 300, held: 0 };
          const open: { id: string; hold: number }[] = [];
          for (const { what, cents, pick } of steps) {
            const chosen = open[pick % Math.max(open.length, 1)];
            if (what === "top_up") {
              await world.topUp(key.organizationId, cents / 100);
              model.available += cents;
            } else if (what === "admit") {
              const { id, says } = await world.admit(key, { hold: cents / 100 });
              expect(says).toBe(cents <= model.available ? "admitted" : "insufficient_credits");
              if (says !== "admitted") continue;
              open.push({ id, hold: cents });
              model.available -= cents;
              model.held += cents;
            } else if (chosen !== undefined) {
              const charge = what === "void" ? 0 : Math.min(cents, chosen.hold);
              if (what === "void") await world.void(key, chosen.id, true);
              else await world.settle(key, chosen.id, { dollars: charge / 100 });
              model.held -= chosen.hold;
              model.available += chosen.hold - charge;
              open.splice(open.indexOf(chosen), 1);
            }
          }
          expect(await world.balance(key.organizationId)).toBe(
            `${(model.available / 100).toFixed(2)} ${(model.held / 100).toFixed(2)}`,
          );
          await Promise.all(open.map(({ id }) => world.void(key, id, true)));
        }),
        { numRuns: 25 },
      );
    });
  });

  describe(`${store}: holds that are lowered while they run`, () => {
    beforeAll(begin);
    afterAll(finish);

    test("what a running request holds less makes room in the same commit, for credits and for the key's limit", async () => {
      const key = await customer(5, { limit: 5 });
      const first = await world.admit(key, { hold: 5 });
      expect((await world.admit(key, { hold: 3 })).says).toBe("key_spend_limit_reached");
      const second = await world.admit(key, { hold: 3, lower: [{ id: first.id, to: 2 }] });
      expect([second.says, await world.balance(key.organizationId)]).toEqual(["admitted", "0.00 5.00"]);
      expect(await readRequest(ledger, first.id)).toMatchObject({ hold: 2_000_000_000n, promptBound: 100 });
      expect((await findKey(ledger, key.keyId))?.held).toBe(nanoUsd(5_000_000_000n));
      await world.settle(key, first.id, { dollars: 2, usage: OF_LOWERED });
      await world.void(key, second.id, true);
      expect(await world.balance(key.organizationId)).toBe("3.00 0.00");
    });

    test("many at once: room for exactly one, and no account is below zero in between", async () => {
      const key = await customer(4);
      const first = await world.admit(key, { hold: 4 });
      const lower = [{ id: first.id, to: 1 }];
      const asked = Array.from({ length: 20 }, () => world.admit(key, { hold: 3, lower }));
      const said = (await Promise.all(asked)).map(({ says }) => says);
      expect(said.filter((says) => says === "admitted")).toHaveLength(1);
      expect(await world.balance(key.organizationId)).toBe("0.00 4.00");
      await world.settle(key, first.id, { dollars: 1 });
    });

    test("once, only downwards, and not after the end; what is lowered stays so when the one who asked is refused", async () => {
      const key = await customer(5);
      const first = await world.admit(key, { hold: 4 });
      const ask = (to: number) => world.admit(key, { hold: 9, lower: [{ id: first.id, to }] });
      for (const [to, balance] of [
        [4.5, "1.00 4.00"],
        [3, "2.00 3.00"],
        [1, "2.00 3.00"],
      ] as const) {
        expect((await ask(to)).says).toBe("insufficient_credits");
        expect(await world.balance(key.organizationId)).toBe(balance);
      }
      await world.settle(key, first.id, { dollars: 2, usage: OF_LOWERED });
      await ask(0.5);
      expect(await world.balance(key.organizationId)).toBe("3.00 0.00");
    });

    test("a charge above the lowered hold is a bug that changes nothing", async () => {
      const key = await customer(5);
      const { id } = await world.admit(key, { hold: 4 });
      await world.admit(key, { hold: 9, lower: [{ id, to: 1 }] });
      const settled = world.settle(key, id, { dollars: 1.01 }).catch((error: unknown) => error);
      expect(await settled).toBeInstanceOf(Error);
      expect(await world.balance(key.organizationId)).toBe("4.00 1.00");
      await world.void(key, id, true);
      expect(await world.balance(key.organizationId)).toBe("5.00 0.00");
    });

    test("a settlement makes good the lowering that did not come about, and repeats none that did", async () => {
      const key = await customer(5);
      const [lost, done] = [await world.admit(key, { hold: 2 }), await world.admit(key, { hold: 2 })];
      await world.admit(key, { hold: 9, lower: [{ id: done.id, to: 1 }] });
      for (const { id } of [lost, done])
        expect(await world.settle(key, id, { dollars: 1, lowered: 1 })).toMatchObject({ kind: "done" });
      expect(await world.balance(key.organizationId)).toBe("3.00 0.00");
      for (const { id } of [lost, done])
        expect(await readRequest(ledger, id)).toMatchObject({ hold: 1_000_000_000n, promptBound: 100 });
    });

    test("what comes back pays what is owed first", async () => {
      const key = await customer(5);
      const { id } = await world.admit(key, { hold: 4 });
      await world.reverse(key.organizationId, { dollars: 3, kind: "chargeback", target: "pi_1" });
      expect((await world.admit(key, { hold: 1, lower: [{ id, to: 1 }] })).says).toBe("admitted");
      expect(await world.balance(key.organizationId)).toBe("0.00 2.00");
    });

    test("a process that dies behind the lowering leaves what it held then; all of that goes back", async () => {
      const key = await customer(5);
      const { id } = await world.admit(key, { hold: 5 });
      await world.admit(key, { hold: 3, lower: [{ id, to: 2 }] });
      world.ledger = await opened.crash();
      expect(await world.balance(key.organizationId)).toBe("5.00 0.00");
    });
  });

  describe(`${store}: money that goes back`, () => {
    beforeAll(begin);
    afterAll(finish);
    const payment = "pi_1";

    test("a chargeback takes what is there; the rest is debt, and admission stops until it is paid", async () => {
      const key = await customer(5);
      const { id } = await world.admit(key, { hold: 3 });
      await world.settle(key, id, { dollars: 3 });
      expect(
        await world.reverse(key.organizationId, { dollars: 5, kind: "chargeback", target: payment }),
      ).toMatchObject({ kind: "reversed", balance: 0n, debt: 3_000_000_000n });
      expect((await world.admit(key, { hold: 0 })).says).toBe("insufficient_credits");
      await world.topUp(key.organizationId, 2);
      expect([await world.balance(key.organizationId), await world.debt(key.organizationId)]).toEqual([
        "0.00 0.00",
        "1.00",
      ]);
      await world.topUp(key.organizationId, 2);
      expect((await world.admit(key, { hold: 1 })).says).toBe("admitted");
    });

    test("credits that a request holds are not taken from it; what it returns pays the debt", async () => {
      const key = await customer(5);
      const { id } = await world.admit(key, { hold: 4 });
      await world.reverse(key.organizationId, { dollars: 5, kind: "chargeback", target: payment });
      expect([await world.balance(key.organizationId), await world.debt(key.organizationId)]).toEqual([
        "0.00 4.00",
        "4.00",
      ]);
      await world.settle(key, id, { dollars: 1 });
      expect([await world.balance(key.organizationId), await world.debt(key.organizationId)]).toEqual([
        "0.00 0.00",
        "1.00",
      ]);
    });

    test("one reference goes back once; with another amount or target it is a conflict", async () => {
      const { organizationId } = await customer(5);
      const chargeback = { dollars: 1, kind: "chargeback", target: payment, externalId: "dp_1" } as const;
      const outcomes = await Promise.all([1, 2, 3].map(() => world.reverse(organizationId, chargeback)));
      expect(outcomes.map(({ kind }) => kind)).toEqual(["reversed", "repeated", "repeated"]);
      expect(await world.reverse(organizationId, { ...chargeback, dollars: 2 })).toEqual({
        kind: "conflict",
      });
      expect(await world.reverse(organizationId, { ...chargeback, target: "pi_2" })).toEqual({
        kind: "conflict",
      });
      expect(await world.balance(organizationId)).toBe("4.00 0.00");
    });

    test("a chargeback takes at most what was ever paid in", async () => {
      const { organizationId } = await customer(5);
      await world.topUp(organizationId, 5, { kind: "grant" });
      expect(
        await world.reverse(organizationId, { dollars: 6, kind: "chargeback", target: payment }),
      ).toEqual({ kind: "exceeds", atMost: nanoUsd(5_000_000_000n) });
      expect(await world.reverse("org_nobody", { dollars: 1, kind: "chargeback", target: payment })).toEqual({
        kind: "unknown_organization",
      });
    });

    test("a refund returns what a request cost, in parts, never more", async () => {
      const key = await customer(5);
      const { id } = await world.admit(key, { hold: 3 });
      await world.settle(key, id, { dollars: 2 });
      const { organizationId } = key;
      const refund = { kind: "refund", target: id } as const;
      const both = await Promise.all([
        world.reverse(organizationId, { ...refund, dollars: 1.5 }),
        world.reverse(organizationId, { ...refund, dollars: 1.5 }),
      ]);
      expect(both.map(({ kind }) => kind)).toEqual(["reversed", "exceeds"]);
      expect(await world.reverse(organizationId, { ...refund, dollars: 1 })).toEqual({
        kind: "exceeds",
        atMost: nanoUsd(500_000_000n),
      });
      await world.reverse(organizationId, { ...refund, dollars: 0.5 });
      expect(await world.balance(organizationId)).toBe("5.00 0.00");
      expect((await ledger.balance(organizationId))?.spent).toBe(ZERO_USD);
    });

    test("a request that runs, was released, or belongs to another organization is not refunded", async () => {
      const [key, other] = [await customer(5), await customer(5)];
      const { id } = await world.admit(key, { hold: 1 });
      const refund = { kind: "refund", target: id, dollars: 1 } as const;
      expect(await world.reverse(key.organizationId, refund)).toEqual({ kind: "unknown_request" });
      await world.settle(key, id, { dollars: 1 });
      expect(await world.reverse(other.organizationId, refund)).toEqual({ kind: "unknown_request" });
    });
  });

  describe(`${store}: top-ups`, () => {
    beforeAll(begin);
    afterAll(finish);

    test("the same reference credits once, and with another amount it is a conflict", async () => {
      const organizationId = await world.organization(0);
      const externalId = "payment-1";
      const outcomes = await Promise.all([1, 2, 3].map(() => world.topUp(organizationId, 5, { externalId })));
      expect(outcomes.map(({ kind }) => kind)).toEqual(["credited", "repeated", "repeated"]);
      expect(await world.topUp(organizationId, 6, { externalId })).toEqual({ kind: "conflict" });
      expect(await world.balance(organizationId)).toBe("5.00 0.00");
    });

    test("a purchase makes a paid workspace, a grant does not", async () => {
      const granted = await world.organization(5, "grant");
      expect((await ledger.balance(granted))?.paidWorkspace).toBe(false);
      await world.topUp(granted, 1);
      expect((await ledger.balance(granted))?.paidWorkspace).toBe(true);
    });

    test("nobody's account is credited", async () => {
      expect(await world.topUp("org_nobody", 5)).toEqual({ kind: "unknown_organization" });
    });

    test("a top-up in the midst of 100 admissions is counted exactly", async () => {
      const key = await customer(10);
      const [admissions] = await Promise.all([
        Promise.all(Array.from({ length: 100 }, () => world.admit(key, { hold: 0.5 }))),
        world.topUp(key.organizationId, 10),
      ]);
      const admitted = admissions.filter(({ says }) => says === "admitted");
      expect(admitted.length).toBeLessThanOrEqual(40);
      await Promise.all(admitted.map(({ id }) => world.void(key, id, true)));
      expect(await world.balance(key.organizationId)).toBe("20.00 0.00");
    });
  });

  describe(`${store}: keys and limits`, () => {
    beforeAll(begin);
    afterAll(finish);

    test("an organization has so many live keys; a revoked one makes room, and lists end somewhere", async () => {
      const [org, other] = [await world.organization(0), await world.organization(0)];
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
        const made = await createKey(ledger, key, byItself("test"));
        return typeof made === "string" ? made : (made?.id ?? "no organization");
      };
      // Some at a time: a store's queue has an end, too.
      const each = async <T>(all: T[], work: (one: T) => Promise<unknown>): Promise<void> => {
        for (let at = 0; at < all.length; at += 50) await Promise.all(all.slice(at, at + 50).map(work));
      };
      const first: string[] = [];
      await each(Array.from({ length: 1_005 }), async () => first.push(await make(org)));
      const made = first.filter((id) => id.startsWith("key_"));
      expect([made.length, first.filter((id) => id === "too_many_keys").length]).toEqual([1_000, 5]);
      expect(await make(other)).toStartWith("key_");
      expect(await keysOf(ledger, org)).toHaveLength(1_000);
      const revoke = (ids: string[]): Promise<void> =>
        each(ids, (id) => revokeKey(ledger, id, byItself("test")));
      const [oldest = ""] = made;
      await revoke([oldest]);
      expect([await make(org), await make(org)]).toEqual([expect.stringMatching(/^key_/), "too_many_keys"]);
      clock.advance(1);
      await revoke(made.slice(1, 601));
      const listed = await keysOf(ledger, org);
      expect([listed.length, listed.filter(({ revokedAtMs }) => revokedAtMs === null).length]).toEqual([
        900, 400,
      ]);
      expect(listed.some(({ id }) => id === oldest)).toBe(false);
      expect(await findKey(ledger, oldest)).toMatchObject({ id: oldest, organizationId: org });
    }, 60_000);

    test("unknown, wrong and revoked keys", async () => {
      const key = await customer(5);
      const wrong = { ...key, digest: new Uint8Array(32) };
      expect((await world.admit({ ...key, keyId: "key_nobody" }, { hold: 1 })).says).toBe("invalid_api_key");
      expect((await world.admit(wrong, { hold: 1 })).says).toBe("invalid_api_key");
      await revokeKey(ledger, key.keyId, byItself("test"));
      expect((await world.admit(key, { hold: 1 })).says).toBe("api_key_revoked");
      expect((await world.admit(wrong, { hold: 1 })).says).toBe("invalid_api_key");
    });

    test("a revocation holds on the very next admission, a thousand times in a row", async () => {
      // Of four organizations at a time: what one commits goes with what others ask.
      const inTurn = async (): Promise<void> => {
        const organizationId = await world.organization(5);
        for (let round = 0; round < 250; round += 1) {
          const key = await world.key(organizationId);
          await revokeKey(ledger, key.keyId, byItself("test"));
          expect((await world.admit(key, { hold: 0.01 })).says).toBe("api_key_revoked");
        }
      };
      await Promise.all(Array.from({ length: 4 }, inTurn));
    }, 120_000);

    test("a revoked key stays revoked, at its first instant", async () => {
      const key = await customer(5);
      const first = await revokeKey(ledger, key.keyId, byItself("test"));
      clock.advance(1000);
      const second = await revokeKey(ledger, key.keyId, byItself("test"));
      expect(second?.revokedAtMs).toBe(first?.revokedAtMs ?? 0);
    });

    test.each([
      [1, [0.5, 0.5], "key_spend_limit_reached"],
      [1, [0.6, 0.6], "key_spend_limit_reached"],
      [1, [0.5], "admitted"],
    ])("a limit of %d with open holds of %p: the next one is %s", async (limit, holds, says) => {
      const key = await customer(5, { limit });
      const open = [];
      for (const hold of holds) open.push(await world.admit(key, { hold }));
      const next = await world.admit(key, { hold: 0.1 });
      expect(next.says).toBe(says);
      await Promise.all([...open, next].map(({ id }) => world.void(key, id, true)));
    });

    test("a limit of 6.5 holds lets exactly 7 of 200 in", async () => {
      const key = await customer(100, { limit: 6.5 });
      const outcomes = await Promise.all(Array.from({ length: 200 }, () => world.admit(key, { hold: 1 })));
      expect(outcomes.filter(({ says }) => says === "admitted")).toHaveLength(7);
      await Promise.all(outcomes.map(({ id }) => world.void(key, id, true)));
    });

    test("raising the limit opens the key at once, lowering it closes it at once", async () => {
      const key = await customer(5, { limit: 0.5 });
      const { id } = await world.admit(key, { hold: 1 });
      await world.settle(key, id, { dollars: 0.5 });
      expect((await world.admit(key, { hold: 0.1 })).says).toBe("key_spend_limit_reached");
      await changeKey(ledger, key.keyId, { limit: null }, byItself("test"));
      const open = await world.admit(key, { hold: 0.1 });
      expect(open.says).toBe("admitted");
      await world.void(key, open.id, true);
    });

    test("the month turns without a job; holds and charges stay in the month of their admission", async () => {
      clock.set("2030-03-31T23:59:59Z");
      const key = await customer(5, { limit: 0.5 });
      const { id } = await world.admit(key, { hold: 1 });
      expect((await world.admit(key, { hold: 0.1 })).says).toBe("key_spend_limit_reached");
      clock.set("2030-04-01T00:00:00Z");
      const april = await world.admit(key, { hold: 0.1 });
      expect(april.says).toBe("admitted");
      await world.settle(key, id, { dollars: 0.5 });
      await world.settle(key, april.id, { dollars: 0.1 });
      const record = await findKey(ledger, key.keyId);
      expect([record?.month, record?.monthSpend, record?.held]).toEqual([
        "2030-04",
        100_000_000n,
        0n,
      ] as never);
      expect((await readRequest(ledger, id))?.month).toBe("2030-03");
    });

    test("a clock that is set back a little neither moves months nor stamps", async () => {
      clock.set("2030-06-01T00:00:01Z");
      const key = await customer(5);
      const first = await world.admit(key, { hold: 1 });
      clock.set("2030-05-31T23:59:58Z");
      const second = await world.admit(key, { hold: 1 });
      const [a, b] = [await readRequest(ledger, first.id), await readRequest(ledger, second.id)];
      expect(b?.month).toBe("2030-06");
      expect((b?.admittedAtMs ?? 0) >= (a?.admittedAtMs ?? 0)).toBe(true);
      await Promise.all([first, second].map(({ id }) => world.void(key, id, true)));
    });
  });

  describe(`${store}: who may call what`, () => {
    const research = releaseOf({ model: "r", tier: "research" });
    const paid = releaseOf({ model: "paid", requiresPaid: true });
    beforeAll(async () => {
      await begin();
      await world.publish({ model: "r", tier: "research" });
      await world.publish({ model: "paid", requiresPaid: true });
    });
    afterAll(finish);

    const ask = async (organizationId: string, model: string): Promise<string> => {
      const id = `ent_${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;
      const entitlement = { id, organizationId, model, project: "p" };
      const asked = await requestEntitlement(ledger, entitlement, byItself("usr_asks"));
      return typeof asked === "string" ? asked : (asked?.id ?? "no organization");
    };
    const approve = (id: string, days: number): Promise<unknown> =>
      approveEntitlement(
        ledger,
        id,
        { expiresAtMs: clock.nowMs() + days * 86_400_000 },
        byItself("usr_decides"),
      );
    const entitle = async (organizationId: string, model: string, days: number): Promise<string> => {
      const id = await ask(organizationId, model);
      await approve(id, days);
      return id;
    };

    test("an organization has so many open requests, and asks so often a day; what is decided or old makes room", async () => {
      const [org, other] = [await world.organization(0), await world.organization(0)];
      const asked: string[] = [];
      for (let n = 0; n < 20; n += 1) asked.push(await ask(org, "r"));
      expect(await ask(org, "another model")).toBe("too_many_open");
      expect(await ask(other, "r")).toStartWith("ent_");
      const [first = "", second = ""] = asked;
      await approve(first, 1);
      await revokeEntitlement(ledger, second, byItself("usr_decides"));
      expect([await ask(org, "r"), await ask(org, "r")]).toEqual(
        Array.from({ length: 2 }, () => expect.stringMatching(/^ent_/)),
      );
      expect(await ask(org, "r")).toBe("too_many_open");
      for (const { id, status } of await listEntitlements(ledger, org))
        if (status === "requested") await revokeEntitlement(ledger, id, byItself("usr_asks"));
      for (let n = 22; n < 100; n += 1)
        await revokeEntitlement(ledger, await ask(org, "r"), byItself("usr_asks"));
      expect(await ask(org, "r")).toBe("too_many_a_day");
      clock.advance(86_400_000);
      expect(await ask(org, "r")).toStartWith("ent_");
      expect((await findEntitlement(ledger, first))?.status).toBe("expired");
      expect(await findEntitlement(ledger, "ent_unknown")).toBeNull();
      expect(await activeEntitlements(ledger, org)).toEqual([]);
      expect(await listEntitlements(ledger, org)).toHaveLength(101);
    }, 60_000);

    test("whoever closes a request does not end what was approved meanwhile, nor closes it twice", async () => {
      const org = await world.organization(0);
      const asker = byItself("usr_asks");
      const [approved, withdrawn] = [await entitle(org, "r", 1), await ask(org, "r")];
      const withdraw = (id: string) => closeRequest(ledger, id, { outcome: "withdrawn", note: null }, asker);
      const kept = { ended: false, record: { status: "active" } };
      expect(await withdraw(approved)).toMatchObject(kept);
      expect((await findEntitlement(ledger, approved))?.status).toBe("active");
      const closed = { status: "revoked" };
      expect(await withdraw(withdrawn)).toMatchObject({ ended: true, record: closed });
      expect(await withdraw(withdrawn)).toMatchObject({ ended: false, record: closed });
      expect(await withdraw("ent_unknown")).toBeNull();
    });

    test("of many entitlements for a model the one that lasts longest opens it, whatever else was asked for", async () => {
      const org = await world.organization(50);
      const key = await world.key(org, { scope: "research" });
      const says = async (): Promise<string> => {
        const { id, says } = await world.admit(key, { hold: 0.01, release: research });
        if (says === "admitted") await world.void(key, id, true);
        return says;
      };
      const short = await entitle(org, "r", 2);
      for (let n = 0; n < 3; n += 1)
        await revokeEntitlement(ledger, await entitle(org, "r", 9), byItself("x"));
      await ask(org, "r");
      expect(await says()).toBe("admitted");
      const long = await entitle(org, "r", 5);
      clock.advance(3 * 86_400_000);
      expect(await says()).toBe("admitted");
      expect((await activeEntitlements(ledger, org)).map(({ id }) => id)).toEqual([long]);
      await revokeEntitlement(ledger, long, byItself("usr_decides"));
      expect(await says()).toBe("research_entitlement_required");
      await revokeEntitlement(ledger, short, byItself("usr_decides"));
    });

    test("a key is known by its whole digest, in its own organization, until it is revoked; a hundred asked at once", async () => {
      const said = async (key: KeyInHand): Promise<string> => saysOf(await ledger.checkKey(key));
      const [key, other] = [await customer(1), await customer(1)];
      const digest = Uint8Array.from(key.digest);
      digest[31] = (digest[31] ?? 0) ^ 1;
      expect(await said({ ...key, digest })).toBe("invalid_api_key");
      expect(await said({ ...key, digest: new Uint8Array(32) })).toBe("invalid_api_key");
      expect(await said({ ...key, organizationId: other.organizationId })).toBe("invalid_api_key");
      expect(await said({ ...key, keyId: "key_nobodyknows1" })).toBe("invalid_api_key");
      const [gone, wrong] = [await customer(1), { ...key, digest }];
      await revokeKey(ledger, gone.keyId, byItself("test"));
      const asked = Array.from({ length: 100 }, (_, n) => [key, other, gone, wrong][n % 4] as KeyInHand);
      const answers = ["good", "good", "api_key_revoked", "invalid_api_key"];
      expect(await Promise.all(asked.map(said))).toEqual(asked.map((_, n) => answers[n % 4] ?? ""));
      expect(await said({ ...gone, digest: wrong.digest })).toBe("invalid_api_key");
    });

    test("scope before entitlement before paid workspace before limit before credits", async () => {
      const poor = await world.organization(0);
      const standard = await world.key(poor, { limit: 0 });
      const researcher = await world.key(poor, { limit: 0, scope: "research" });
      expect((await world.admit(standard, { hold: 1, release: research })).says).toBe("scope_not_permitted");
      expect((await world.admit(researcher, { hold: 1, release: research })).says).toBe(
        "research_entitlement_required",
      );
      await entitle(poor, "r", 1);
      expect((await world.admit(researcher, { hold: 1, release: research })).says).toBe(
        "key_spend_limit_reached",
      );
      expect((await world.admit(standard, { hold: 1, release: paid })).says).toBe("paid_workspace_required");
      expect((await world.admit(standard, { hold: 1 })).says).toBe("key_spend_limit_reached");
      await changeKey(ledger, standard.keyId, { limit: null }, byItself("test"));
      expect((await world.admit(standard, { hold: 1 })).says).toBe("insufficient_credits");
    });

    test("an entitlement works from its approval until it expires or is revoked, for its model only", async () => {
      const key = await customer(5, { scope: "research" });
      const says = async (): Promise<string> => {
        const admitted = await world.admit(key, { hold: 1, release: research });
        if (admitted.says === "admitted") await world.void(key, admitted.id, true);
        return admitted.says;
      };
      await entitle(key.organizationId, "other", 1);
      expect(await says()).toBe("research_entitlement_required");
      const id = await entitle(key.organizationId, "r", 1);
      expect(await says()).toBe("admitted");
      await revokeEntitlement(ledger, id, byItself("test"));
      expect(await says()).toBe("research_entitlement_required");
      await entitle(key.organizationId, "r", 1);
      expect(await says()).toBe("admitted");
      clock.advance(86_400_000);
      expect(await says()).toBe("research_entitlement_required");
    });

    describe("a clock that is set back makes no request look as if it came without a right", () => {
      const back = (): void => clock.advance(-30_000);
      const lateOnes = async () =>
        (await ledger.verify()).violations.filter(({ invariant }) => invariant.startsWith("I15"));

      test.each(["its key", "its entitlement"])("%s is revoked behind it, and it was free", async (what) => {
        const publishedPrice = { ...PRICE, input_per_million: "0", output_per_million: "0" };
        const model = what.replace(" ", "-");
        const free = { model, tier: "research", publishedPrice, price: exactPrice(publishedPrice) } as const;
        await world.publish(free);
        const key = await customer(0, { scope: "research" });
        const id = await entitle(key.organizationId, model, 1);
        clock.advance(60_000);
        const admitted = await world.admit(key, { hold: 0, release: releaseOf(free) });
        back();
        if (what === "its key") await revokeKey(ledger, key.keyId, byItself("test"));
        else await revokeEntitlement(ledger, id, byItself("usr_decides"));
        expect([admitted.says, await lateOnes()]).toEqual(["admitted", []]);
        await world.void(key, admitted.id, true);
      });

      test("its entitlement was approved before it", async () => {
        const key = await customer(5, { scope: "research" });
        await entitle(key.organizationId, "r", 1);
        back();
        const admitted = await world.admit(key, { hold: 1, release: research });
        expect([admitted.says, await lateOnes()]).toEqual(["admitted", []]);
        await world.void(key, admitted.id, true);
      });
    });

    test("a disabled, superseded or expired route admits nobody", async () => {
      const key = await customer(5);
      const release = releaseOf({ model: "x", expiresAtMs: clock.nowMs() + 60_000 });
      await world.publish({ model: "x", expiresAtMs: release.expiresAtMs });
      await setRouteDisabled(
        ledger,
        { route: release.route, disabled: true, reason: "test" },
        byItself("test"),
      );
      expect((await world.admit(key, { hold: 1, release })).says).toBe("route_disabled");
      await setRouteDisabled(
        ledger,
        { route: release.route, disabled: false, reason: null },
        byItself("test"),
      );
      clock.advance(60_000);
      expect((await world.admit(key, { hold: 1, release })).says).toBe("route_release_stale");
      await world.publish({ model: "x", version: 2 });
      expect((await world.admit(key, { hold: 1, release })).says).toBe("route_release_stale");
    });

    test("a version at or below the highest is refused, the very same release is no news", async () => {
      const release = releaseOf({ model: "y", version: 3 });
      const published = { release, jws: jwsOf(release) };
      expect(await publishRelease(ledger, published, byItself("test"))).toEqual({ kind: "published" });
      expect(await publishRelease(ledger, published, byItself("test"))).toEqual({ kind: "repeated" });
      expect(await world.publish({ model: "y", version: 2 })).toEqual({ kind: "rolled_back", highest: 3 });
    });
  });

  describe(`${store}: idempotency keys`, () => {
    beforeAll(begin);
    afterAll(finish);
    const keyed = { hold: 1, idempotencyKey: "idem-key-1" };

    test("running, then replayed with the very same bytes; another body is refused throughout", async () => {
      const key = await customer(5);
      const first = await world.admit(key, keyed);
      expect((await world.admit(key, keyed)).outcome).toEqual({ kind: "running", requestId: first.id });
      expect((await world.admit(key, { ...keyed, body: "other" })).says).toBe("idempotency_key_reused");
      await world.settle(key, first.id, { dollars: 0.5, answer: "hello" });
      const { outcome } = await world.admit(key, keyed);
      expect(outcome).toMatchObject({ kind: "replay", answer: { requestId: first.id, status: 200 } });
      expect(outcome.kind === "replay" && Buffer.from(outcome.answer.body).toString()).toBe(
        '{"answer":"hello","cost":{"customer_charge_usd":0.5}}',
      );
      expect((await world.admit(key, { ...keyed, body: "other" })).says).toBe("idempotency_key_reused");
      expect(await world.balance(key.organizationId)).toBe("4.50 0.00");
    });

    test("two at once: one is admitted, the other runs along", async () => {
      const key = await customer(5);
      const both = await Promise.all([world.admit(key, keyed), world.admit(key, keyed)]);
      expect(both.map(({ says }) => says)).toEqual(["admitted", "running"]);
      await world.void(key, both[0].id, true);
    });

    test("a replay outranks an empty balance, a limit and a closed route", async () => {
      const key = await customer(1, { limit: 5 });
      const { id } = await world.admit(key, keyed);
      await world.settle(key, id, { dollars: 1, answer: "x" });
      await changeKey(ledger, key.keyId, { limit: 0n as never }, byItself("test"));
      await setRouteDisabled(
        ledger,
        { route: releaseOf().route, disabled: true, reason: null },
        byItself("test"),
      );
      expect((await world.admit(key, keyed)).says).toBe("replay");
      await setRouteDisabled(
        ledger,
        { route: releaseOf().route, disabled: false, reason: null },
        byItself("test"),
      );
    });

    test("a void with proof frees the key; one without keeps it taken", async () => {
      const key = await customer(5);
      const first = await world.admit(key, keyed);
      await world.void(key, first.id, true);
      const second = await world.admit(key, keyed);
      expect(second.says).toBe("admitted");
      await world.void(key, second.id, false);
      expect((await world.admit(key, keyed)).says).toBe("idempotency_outcome_unknown");
    });

    test("an answer too large to keep is charged, and its retry told so", async () => {
      const key = await customer(5);
      const { id } = await world.admit(key, keyed);
      await world.settle(key, id, { dollars: 0.5, answer: "x".repeat(9 * 1024 * 1024) });
      expect((await world.admit(key, keyed)).says).toBe("idempotency_result_not_retained");
    });

    test("the same string under two API keys is two requests", async () => {
      const organizationId = await world.organization(5);
      const [a, b] = [await world.key(organizationId), await world.key(organizationId)];
      const both = [await world.admit(a, keyed), await world.admit(b, keyed)];
      expect(both.map(({ says }) => says)).toEqual(["admitted", "admitted"]);
      await world.void(a, both[0]?.id ?? "", true);
      await world.void(b, both[1]?.id ?? "", true);
    });

    test("an answer lasts a day, its key thirty more", async () => {
      const key = await customer(5);
      const { id } = await world.admit(key, keyed);
      await world.settle(key, id, { dollars: 0.5, answer: "x" });
      clock.advance(24 * 3_600_000 - 1000);
      expect((await world.admit(key, keyed)).says).toBe("replay");
      clock.advance(1000);
      expect((await world.admit(key, keyed)).says).toBe("idempotency_key_expired");
      clock.advance(30 * 24 * 3_600_000);
      const again = await world.admit(key, keyed);
      expect(again.says).toBe("admitted");
      await world.void(key, again.id, true);
    });
  });

  describe(`${store}: records`, () => {
    beforeAll(begin);
    afterAll(finish);

    test("usage by key, model and day adds up to the charges", async () => {
      const key = await customer(5);
      for (const cents of [10, 20, 30]) {
        const { id } = await world.admit(key, { hold: 1 });
        await world.settle(key, id, { dollars: cents / 100 });
      }
      const { organizationId } = key;
      for (const groupBy of ["key", "model", "day"] as const) {
        const rows = await readUsageRows(ledger, { organizationId, groupBy });
        expect(rows.map(({ requests, inputTokens, charge }) => [requests, inputTokens, charge])).toEqual([
          [3, 60n, 600_000_000n],
        ] as never);
      }
      expect(await readUsageRows(ledger, { organizationId, keyId: "key_other" })).toMatchObject([
        { requests: 0 },
      ]);
    });

    test("of edits that were made on one version one is made; without a version any is", async () => {
      const { keyId } = await customer(5);
      const found = await findKey(ledger, keyId);
      if (found === null) throw new Error("the key is not there");
      const version = versionOf("key", found);
      const edits = await Promise.all(
        ["a", "b", "c"].map((name) => changeKey(ledger, keyId, { name, version }, byItself(name))),
      );
      expect(edits.filter((edit) => edit === "changed_meanwhile")).toHaveLength(2);
      expect(await changeKey(ledger, keyId, { limit: null, version }, byItself("late"))).toBe(
        "changed_meanwhile",
      );
      expect(await auditLog(ledger, { organizationId: found.organizationId, limit: 1 })).toMatchObject([
        { action: "key.rename" },
      ]);
      const both = { name: "d", limit: 7n as never };
      expect(await changeKey(ledger, keyId, both, byItself("script"))).toMatchObject(both);
    });

    test("a change that fails half-way leaves nothing, and what came with it in the same tick is done", async () => {
      const { organizationId } = await customer(5);
      const nameOf = async () => (await findOrganization(ledger, organizationId))?.name;
      const before = await nameOf();
      const failing = ledger.change(null, function* (): Query<void> {
        yield* ask("UPDATE organization SET name = 'half' WHERE org_id = ?1", [organizationId]);
        const [seen] = yield* ask("SELECT name FROM organization WHERE org_id = ?1", [organizationId]);
        throw new Error(`it saw ${textOf(seen?.["name"])}`);
      });
      const [failed, credited, renamed] = await Promise.allSettled([
        failing,
        world.topUp(organizationId, 1),
        renameOrganization(ledger, organizationId, { from: "nobody's", to: "x", actor: byItself("test") }),
      ]);
      expect(failed).toMatchObject({ status: "rejected", reason: new Error("it saw half") });
      expect(credited).toMatchObject({ value: { kind: "credited" } });
      expect(renamed).toMatchObject({ value: false });
      expect(await nameOf()).toBe(before);
    });

    test("every change of the operator is in the audit log, newest first", async () => {
      const key = await customer(5);
      await changeKey(ledger, key.keyId, { limit: 5n as never }, byItself("alice"));
      const rename = (id: string) => changeKey(ledger, id, { name: "Batch" }, byItself("carol"));
      expect(await rename(key.keyId)).toMatchObject({ name: "Batch", limit: 5n });
      expect(await rename(key.keyId)).toMatchObject({ name: "Batch" });
      expect(await rename("key_doesnotexist")).toBeNull();
      const called = { address: "203.0.113.4", requestId: "req_of_the_call" };
      await revokeKey(ledger, key.keyId, { id: "bob", ...called });
      const lines = await auditLog(ledger, { organizationId: key.organizationId, limit: 10 });
      expect(lines[0]).toMatchObject({ actor: "bob", ...called });
      expect(lines[1]).toMatchObject({ actor: "carol", address: null, requestId: null });
      expect(lines.map(({ action, actor }) => [action, actor])).toEqual([
        ["key.revoke", "bob"],
        ["key.rename", "carol"],
        ["key.limit", "alice"],
        ["key.create", "test"],
        ["credits.purchase", "test"],
        ["organization.create", "test"],
      ]);
    });

    test("management keys open nothing once revoked", async () => {
      const digest = new Uint8Array(32).fill(7);
      await createManagementKey(
        ledger,
        { id: "mk_test", name: "ci", prefix: "gw_mk_test", digest },
        byItself("test"),
      );
      expect((await authenticateManagementKey(ledger, "mk_test", digest))?.name).toBe("ci");
      expect(await authenticateManagementKey(ledger, "mk_test", new Uint8Array(32))).toBeNull();
      await revokeManagementKey(ledger, "mk_test", byItself("test"));
      expect(await authenticateManagementKey(ledger, "mk_test", digest)).toBeNull();
    });

    test("a management key belongs to the person who made it or signed in with it, else to the installation", async () => {
      const digest = new Uint8Array(32).fill(8);
      const made = async (id: string, maker: string, personId?: string): Promise<(string | null)[]> => {
        const key = { id, name: "k", prefix: "gw_mk_k", digest };
        const login = personId === undefined ? {} : { loginOf: personId, livesMs: 1_000_000 };
        const { owner } = await createManagementKey(ledger, { ...key, ...login }, byItself(maker));
        const read = (await authenticateManagementKey(ledger, id, digest))?.owner ?? null;
        return [owner, read, await ownerOfManagementKey(ledger, id)];
      };
      const all = (owner: string): string[] => [owner, owner, owner];
      expect(await made("mk_of_ann", "usr_ann")).toEqual(all("usr_ann"));
      expect(await made("mk_login", "usr_ann", "usr_ann")).toEqual(all("usr_ann"));
      expect(await made("mk_start", "start")).toEqual(all("installation"));
      await revokeManagementKey(ledger, "mk_of_ann", byItself("test"));
      expect(await ownerOfManagementKey(ledger, "mk_of_ann")).toBeNull();
      expect(await ownerOfManagementKey(ledger, "mk_nobody")).toBeNull();
    });

    test("nobody approves what they asked for: a person by their keys, or the installation by any of its own", async () => {
      const { organizationId } = await customer(1);
      const hats = {
        usr_bo: "bo",
        mk_bo: "bo",
        mk_one: "house",
        mk_two: "house",
        start: "house",
        usr_cy: "cy",
      };
      const key = { name: "k", prefix: "gw_mk_k", digest: new Uint8Array(32).fill(9) };
      for (const [id, maker] of [
        ["mk_bo", "usr_bo"],
        ["mk_one", "start"],
        ["mk_two", "start"],
      ] as const)
        await createManagementKey(ledger, { ...key, id }, byItself(maker));
      for (const [asks, one] of Object.entries(hats))
        for (const [decides, other] of Object.entries(hats)) {
          const id = `ent_${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;
          const wish = { id, organizationId, model: "r", project: "p" };
          await requestEntitlement(ledger, wish, byItself(asks));
          const outcome = await approveEntitlement(
            ledger,
            id,
            { expiresAtMs: clock.nowMs() + 1000 },
            byItself(decides),
          );
          const said = typeof outcome === "string" ? outcome : outcome?.status;
          expect([asks, decides, said]).toEqual([
            asks,
            decides,
            one === other ? "second_person_required" : "active",
          ]);
        }
    });

    test("a preview decides like an admission and writes nothing", async () => {
      const key = await customer(1);
      const before = await world.balance(key.organizationId);
      expect((await ledger.preview(world.admission(key, { hold: 1 }))).kind).toBe("admitted");
      expect((await ledger.preview(world.admission(key, { hold: 1.01 }))).kind).toBe("refused");
      expect(await world.balance(key.organizationId)).toBe(before);
    });
  });

  describe(`${store}: a process that dies`, () => {
    beforeAll(begin);
    afterAll(finish);

    test("what was acknowledged is there; what was running is released, and its key says so", async () => {
      const key = await customer(5);
      const settled = await world.admit(key, { hold: 1, idempotencyKey: "settled-1" });
      await world.settle(key, settled.id, { dollars: 0.5, answer: "kept" });
      const running = await world.admit(key, { hold: 1, idempotencyKey: "running-1" });
      const unkeyed = await world.admit(key, { hold: 1 });
      world.ledger = await opened.crash();
      expect(await world.balance(key.organizationId)).toBe("4.50 0.00");
      expect((await world.admit(key, { hold: 1, idempotencyKey: "settled-1" })).says).toBe("replay");
      expect((await world.admit(key, { hold: 1, idempotencyKey: "running-1" })).says).toBe(
        "idempotency_outcome_unknown",
      );
      for (const { id } of [running, unkeyed])
        expect((await readRequest(world.ledger, id))?.state).toBe("outcome_unknown");
    });

    test("nobody held them to their bounds: what an older program settled as it was told, a stream that went on beyond its maximum", async () => {
      const key = await customer(5);
      const old = await world.admit(key, { hold: 1 });
      await world.settle(key, old.id, { dollars: 0.5 });
      const admission = world.admission(key, { hold: 1 });
      if (admission.asked.kind === "plan") admission.asked.plan.outputBound = 5;
      await world.ledger.admit(admission);
      await world.checkpoint(key, admission.requestId, { tokens: 9 });
      await world.ledger.change(null, function* () {
        const older =
          "UPDATE request SET surface = NULL, prompt_bound = 1, output_bound = 1 WHERE request_id = ?1";
        yield* ask(older, [old.id]);
      });
      world.ledger = await opened.crash();
      expect(await world.balance(key.organizationId)).toBe("4.40 0.00");
      expect((await world.ledger.verify()).violations).toEqual([]);
    });

    test("a stream is settled for what was kept of it, and its key gets that much back", async () => {
      const key = await customer(5);
      const keyed = await world.admit(key, { hold: 1, idempotencyKey: "stream-01" });
      await world.checkpoint(key, keyed.id, { tokens: 4, sent: { seq: 0, text: BEGUN } });
      await world.checkpoint(key, keyed.id, { tokens: 9, sent: { seq: 1, text: "id: 2\ndata: b\n\n" } });
      const unkeyed = await world.admit(key, { hold: 1 });
      await world.checkpoint(key, unkeyed.id, { tokens: 19 });
      const silent = await world.admit(key, { hold: 1 });
      await world.checkpoint(key, silent.id, { tokens: 0 });
      world.ledger = await opened.crash();
      expect(await world.balance(key.organizationId)).toBe("4.70 0.00"); // 10 and 20 tokens of a cent
      expect(await readRequest(world.ledger, keyed.id)).toMatchObject({
        state: "settled",
        evidence: "delivered_tokens",
        usage: { promptTokens: 1, completionTokens: 9 },
      });
      expect((await readRequest(world.ledger, silent.id))?.state).toBe("outcome_unknown");
      const { outcome } = await world.admit(key, { hold: 1, idempotencyKey: "stream-01" });
      if (outcome.kind !== "replay") throw new Error(outcome.kind);
      const body = Buffer.from(outcome.answer.body).toString();
      expect(body).toStartWith(`${BEGUN}id: 2\ndata: b\n\nid: 3\ndata: {"error":`);
      expect(body).toContain('"customer_charge_usd":0.1,');
      expect(body).not.toContain("[DONE]");
    });

    test("what the provider told beyond its bounds before its gateway went is a variance", async () => {
      const key = await customer(5);
      const { id } = await world.admit(key, { hold: 1 });
      const { route, provider } = releaseOf();
      const told = { promptTokens: 1, completionTokens: 29, cachedTokens: null };
      const answered = {
        n: 1,
        route,
        provider,
        startedAtMs: (await readRequest(world.ledger, id))?.admittedAtMs ?? 0,
        durationMs: 3,
        outcome: "answered" as const,
        upstreamId: null,
        upstreamStatus: 200,
        errorClass: null,
        told,
      };
      await world.checkpoint(key, id, { tokens: 9, attempts: [answered] });
      world.ledger = await opened.crash();
      expect(await world.balance(key.organizationId)).toBe("4.90 0.00"); // 10 tokens of a cent
      expect((await readRequest(world.ledger, id))?.state).toBe("settled");
      const { violations } = await world.ledger.verify();
      expect(violations.filter(({ requestId }) => requestId === id)).toEqual([]);
    });

    test("a stream that lost a chunk gives back what came before it", async () => {
      const key = await customer(5);
      const { id } = await world.admit(key, { hold: 1, idempotencyKey: "stream-02" });
      await world.checkpoint(key, id, { tokens: 1, sent: { seq: 0, text: BEGUN } });
      await world.checkpoint(key, id, { tokens: 2, sent: { seq: 2, text: "id: 3\ndata: c\n\n" } });
      world.ledger = await opened.crash();
      const { outcome } = await world.admit(key, { hold: 1, idempotencyKey: "stream-02" });
      if (outcome.kind !== "replay") throw new Error(outcome.kind);
      expect(Buffer.from(outcome.answer.body).toString()).toStartWith(`${BEGUN}id: 2\ndata: {`);
    });

    test("progress is kept only while the request is open", async () => {
      const key = await customer(5);
      const { id } = await world.admit(key, { hold: 1 });
      expect((await world.checkpoint(key, id, { tokens: 1 })).kind).toBe("kept");
      await world.settle(key, id, { dollars: 0.5 });
      expect((await world.checkpoint(key, id, { tokens: 2 })).kind).toBe("lost");
      expect(await world.balance(key.organizationId)).toBe("4.50 0.00");
    });

    test("its late settlement is lost", async () => {
      const key = await world.key(await world.organization(5));
      const { id } = await world.admit(key, { hold: 1 });
      world.ledger = await opened.crash();
      expect(await world.settle(key, id, { dollars: 0.5 })).toEqual({ kind: "lost" });
      expect(await world.balance(key.organizationId)).toBe("5.00 0.00");
    });
  });
}
