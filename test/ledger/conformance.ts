// What every store must keep, whatever it is made of (money.md §2, §4, §7, §8, §10): the same tables run on each. Amounts
// are dollars.
import { byItself } from "../../src/contract/actor.ts";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { nanoUsd, ZERO_USD } from "../../src/contract/money.ts";
import { versionOf } from "../../src/contract/version.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { testClock } from "../support/clock.ts";
import { type KeyInHand, type OpenLedger, type Opened, releaseOf, World } from "./world.ts";

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
    const report = await world.ledger.audit();
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

    test("a void returns the whole hold", async () => {
      const key = await customer(5);
      const { id } = await world.admit(key, { hold: 2 });
      await world.void(key, id, true);
      expect(await world.balance(key.organizationId)).toBe("5.00 0.00");
      expect((await ledger.request(id))?.state).toBe("released");
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

    test("unknown, wrong and revoked keys", async () => {
      const key = await customer(5);
      const wrong = { ...key, digest: new Uint8Array(32) };
      expect((await world.admit({ ...key, keyId: "key_nobody" }, { hold: 1 })).says).toBe("invalid_api_key");
      expect((await world.admit(wrong, { hold: 1 })).says).toBe("invalid_api_key");
      await ledger.revokeKey(key.keyId, byItself("test"));
      expect((await world.admit(key, { hold: 1 })).says).toBe("api_key_revoked");
      expect((await world.admit(wrong, { hold: 1 })).says).toBe("invalid_api_key");
    });

    test("a revocation holds on the very next admission, a thousand times in a row", async () => {
      const organizationId = await world.organization(5);
      for (let round = 0; round < 1000; round += 1) {
        const key = await world.key(organizationId);
        await ledger.revokeKey(key.keyId, byItself("test"));
        expect((await world.admit(key, { hold: 0.01 })).says).toBe("api_key_revoked");
      }
    }, 120_000);

    test("a revoked key stays revoked, at its first instant", async () => {
      const key = await customer(5);
      const first = await ledger.revokeKey(key.keyId, byItself("test"));
      clock.advance(1000);
      const second = await ledger.revokeKey(key.keyId, byItself("test"));
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
      await ledger.changeKey(key.keyId, { limit: null }, byItself("test"));
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
      const record = await ledger.key(key.keyId);
      expect([record?.month, record?.monthSpend, record?.held]).toEqual([
        "2030-04",
        100_000_000n,
        0n,
      ] as never);
      expect((await ledger.request(id))?.month).toBe("2030-03");
    });

    test("a clock that is set back a little neither moves months nor stamps", async () => {
      clock.set("2030-06-01T00:00:01Z");
      const key = await customer(5);
      const first = await world.admit(key, { hold: 1 });
      clock.set("2030-05-31T23:59:58Z");
      const second = await world.admit(key, { hold: 1 });
      const [a, b] = [await ledger.request(first.id), await ledger.request(second.id)];
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

    const entitle = async (organizationId: string, model: string, days: number): Promise<string> => {
      const entitlement = await ledger.requestEntitlement(
        {
          id: `ent_${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`,
          organizationId,
          model,
          project: "p",
        },
        byItself("test"),
      );
      await ledger.approveEntitlement(
        entitlement?.id ?? "",
        clock.nowMs() + days * 86_400_000,
        byItself("test"),
      );
      return entitlement?.id ?? "";
    };

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
      await ledger.changeKey(standard.keyId, { limit: null }, byItself("test"));
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
      await ledger.revokeEntitlement(id, byItself("test"));
      expect(await says()).toBe("research_entitlement_required");
      await entitle(key.organizationId, "r", 1);
      expect(await says()).toBe("admitted");
      clock.advance(86_400_000);
      expect(await says()).toBe("research_entitlement_required");
    });

    test("a disabled, superseded or expired route admits nobody", async () => {
      const key = await customer(5);
      const release = releaseOf({ model: "x", expiresAtMs: clock.nowMs() + 60_000 });
      await world.publish({ model: "x", expiresAtMs: release.expiresAtMs });
      await ledger.setRouteDisabled(release.route, true, "test", byItself("test"));
      expect((await world.admit(key, { hold: 1, release })).says).toBe("route_disabled");
      await ledger.setRouteDisabled(release.route, false, null, byItself("test"));
      clock.advance(60_000);
      expect((await world.admit(key, { hold: 1, release })).says).toBe("route_release_stale");
      await world.publish({ model: "x", version: 2 });
      expect((await world.admit(key, { hold: 1, release })).says).toBe("route_release_stale");
    });

    test("a version at or below the highest is refused, the very same release is no news", async () => {
      const published = { release: releaseOf({ model: "y", version: 3 }), jws: "j" };
      expect(await ledger.publishRelease(published, byItself("test"))).toEqual({ kind: "published" });
      expect(await ledger.publishRelease(published, byItself("test"))).toEqual({ kind: "repeated" });
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
      await ledger.changeKey(key.keyId, { limit: 0n as never }, byItself("test"));
      await ledger.setRouteDisabled(releaseOf().route, true, null, byItself("test"));
      expect((await world.admit(key, keyed)).says).toBe("replay");
      await ledger.setRouteDisabled(releaseOf().route, false, null, byItself("test"));
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
        const rows = await ledger.usage({ organizationId, groupBy });
        expect(rows.map(({ requests, inputTokens, charge }) => [requests, inputTokens, charge])).toEqual([
          [3, 60, 600_000_000n],
        ] as never);
      }
      expect(await ledger.usage({ organizationId, keyId: "key_other" })).toMatchObject([{ requests: 0 }]);
    });

    test("of edits that were made on one version one is made; without a version any is", async () => {
      const { keyId } = await customer(5);
      const found = await ledger.key(keyId);
      if (found === null) throw new Error("the key is not there");
      const version = versionOf("key", found);
      const edits = await Promise.all(
        ["a", "b", "c"].map((name) => ledger.changeKey(keyId, { name, version }, byItself(name))),
      );
      expect(edits.filter((edit) => edit === "changed_meanwhile")).toHaveLength(2);
      expect(await ledger.changeKey(keyId, { limit: null, version }, byItself("late"))).toBe(
        "changed_meanwhile",
      );
      expect(await ledger.auditLog({ organizationId: found.organizationId, limit: 1 })).toMatchObject([
        { action: "key.rename" },
      ]);
      const both = { name: "d", limit: 7n as never };
      expect(await ledger.changeKey(keyId, both, byItself("script"))).toMatchObject(both);
    });

    test("every change of the operator is in the audit log, newest first", async () => {
      const key = await customer(5);
      await ledger.changeKey(key.keyId, { limit: 5n as never }, byItself("alice"));
      const rename = (id: string) => ledger.changeKey(id, { name: "Batch" }, byItself("carol"));
      expect(await rename(key.keyId)).toMatchObject({ name: "Batch", limit: 5n });
      expect(await rename(key.keyId)).toMatchObject({ name: "Batch" });
      expect(await rename("key_doesnotexist")).toBeNull();
      const called = { address: "203.0.113.4", requestId: "req_of_the_call" };
      await ledger.revokeKey(key.keyId, { id: "bob", ...called });
      const lines = await ledger.auditLog({ organizationId: key.organizationId, limit: 10 });
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
      await ledger.createManagementKey(
        { id: "mk_test", name: "ci", prefix: "gw_mk_test", digest },
        byItself("test"),
      );
      expect((await ledger.authenticateManagementKey("mk_test", digest))?.name).toBe("ci");
      expect(await ledger.authenticateManagementKey("mk_test", new Uint8Array(32))).toBeNull();
      await ledger.revokeManagementKey("mk_test", byItself("test"));
      expect(await ledger.authenticateManagementKey("mk_test", digest)).toBeNull();
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
        expect((await world.ledger.request(id))?.state).toBe("outcome_unknown");
    });

    test("a stream is settled for what was kept of it, and its key gets that much back", async () => {
      const key = await customer(5);
      const keyed = await world.admit(key, { hold: 1, idempotencyKey: "stream-01" });
      await world.checkpoint(key, keyed.id, { tokens: 4, sent: { seq: 0, text: "id: 1\ndata: a\n\n" } });
      await world.checkpoint(key, keyed.id, { tokens: 9, sent: { seq: 1, text: "id: 2\ndata: b\n\n" } });
      const unkeyed = await world.admit(key, { hold: 1 });
      await world.checkpoint(key, unkeyed.id, { tokens: 19 });
      const silent = await world.admit(key, { hold: 1 });
      await world.checkpoint(key, silent.id, { tokens: 0 });
      world.ledger = await opened.crash();
      expect(await world.balance(key.organizationId)).toBe("4.70 0.00"); // 10 and 20 tokens of a cent
      expect(await world.ledger.request(keyed.id)).toMatchObject({
        state: "settled",
        evidence: "delivered_tokens",
        usage: { promptTokens: 1, completionTokens: 9 },
      });
      expect((await world.ledger.request(silent.id))?.state).toBe("outcome_unknown");
      const { outcome } = await world.admit(key, { hold: 1, idempotencyKey: "stream-01" });
      if (outcome.kind !== "replay") throw new Error(outcome.kind);
      const body = Buffer.from(outcome.answer.body).toString();
      expect(body).toStartWith('id: 1\ndata: a\n\nid: 2\ndata: b\n\nid: 3\ndata: {"error":');
      expect(body).toContain('"customer_charge_usd":0.1,');
      expect(body).not.toContain("[DONE]");
    });

    test("a stream that lost a chunk gives back what came before it", async () => {
      const key = await customer(5);
      const { id } = await world.admit(key, { hold: 1, idempotencyKey: "stream-02" });
      await world.checkpoint(key, id, { tokens: 1, sent: { seq: 0, text: "id: 1\ndata: a\n\n" } });
      await world.checkpoint(key, id, { tokens: 2, sent: { seq: 2, text: "id: 3\ndata: c\n\n" } });
      world.ledger = await opened.crash();
      const { outcome } = await world.admit(key, { hold: 1, idempotencyKey: "stream-02" });
      if (outcome.kind !== "replay") throw new Error(outcome.kind);
      expect(Buffer.from(outcome.answer.body).toString()).toStartWith("id: 1\ndata: a\n\nid: 2\ndata: {");
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
