// A key's settings besides its monthly limit, on every store: pause, expiry, models, output, and the limits of the
// day and of the week. Amounts are dollars.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { byItself } from "../../src/domain/actor.ts";
import type { NanoUsd } from "../../src/domain/money.ts";
import { versionOf } from "../../src/domain/row-version.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { newId } from "../../src/lib/id.ts";
import { changeKey, findKey } from "../../src/registry/api-keys.ts";
import { endExpiredKeys, pauseKey, resumeKey, revokeKey } from "../../src/registry/key-life.ts";
import { replaceKey } from "../../src/registry/key-replacement.ts";
import { mintKey } from "../../src/registry/secret.ts";
import { ask } from "../../src/store/sql.ts";
import { auditLog } from "../support/audit-log.ts";
import { type TestClock, testClock } from "../support/clock.ts";
import {
  type KeyInHand,
  type KeyWish,
  type OpenLedger,
  type Opened,
  releaseOf,
  saysOf,
  World,
} from "./world.ts";
import { keysOf } from "../support/registry-reads.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const US = byItself("test");
const OVER = "key_spend_limit_reached";

export function keySettingsConformance(store: string, open: OpenLedger): void {
  describe(store, () => settings(open));
}

function settings(open: OpenLedger): void {
  const clock = testClock();
  let opened: Opened;
  let world: World;
  let ledger: Ledger;
  beforeAll(async () => {
    opened = await open(clock);
    ledger = opened.ledger;
    world = new World(ledger);
    await world.publish();
    await world.publish({ model: "other" });
  });
  afterAll(async () => {
    expect((await ledger.verify()).violations).toEqual([]);
    await opened.close();
  });
  const customer = async (dollars: number, terms: KeyWish = {}): Promise<KeyInHand> =>
    world.key(await world.organization(dollars), terms);
  const tries = async (
    key: KeyInHand,
    terms: Partial<Parameters<World["admit"]>[1]> = {},
  ): Promise<string> => {
    const { id, says } = await world.admit(key, { hold: 0.1, ...terms });
    if (says === "admitted") await world.void(key, id, true);
    return says;
  };
  const looks = async (key: KeyInHand): Promise<string> => saysOf(await ledger.checkKey(key));
  const actions = async ({ organizationId }: KeyInHand): Promise<string[]> =>
    (await auditLog(ledger, { organizationId, limit: 20 })).map(({ action }) => action);

  describe("what a key may", () => {
    test("a pause applies to the very next request, and ends when it is resumed; running requests are charged", async () => {
      const key = await customer(5);
      const running = await world.admit(key, { hold: 1 });
      await pauseKey(ledger, key.keyId, US);
      expect([await looks(key), await tries(key)]).toEqual(["api_key_paused", "api_key_paused"]);
      expect(await world.settle(key, running.id, { dollars: 0.5 })).toMatchObject({ kind: "done" });
      const paused = await findKey(ledger, key.keyId);
      expect(paused).toMatchObject({ state: "paused", revokedAtMs: null });
      expect((await pauseKey(ledger, key.keyId, US)) as object).toMatchObject({
        pausedAtMs: paused?.pausedAtMs,
      });
      await resumeKey(ledger, key.keyId, US);
      expect([await looks(key), await tries(key)]).toEqual(["good", "admitted"]);
      expect((await actions(key)).slice(0, 2)).toEqual(["key.resume", "key.pause"]);
    });

    test("a program that does not know pauses sees a paused key as revoked", async () => {
      const key = await customer(5);
      await pauseKey(ledger, key.keyId, US);
      const [row] = await ledger.read(() =>
        ask("SELECT revoked_at FROM api_key WHERE key_id = ?1", [key.keyId]),
      );
      expect(row?.["revoked_at"]).toBeGreaterThan(0);
    });

    test("a paused key can be revoked for good, and keeps its place in the list until then", async () => {
      const key = await customer(5);
      await pauseKey(ledger, key.keyId, US);
      expect(await keysOf(ledger, key.organizationId)).toMatchObject([{ id: key.keyId, state: "paused" }]);
      await revokeKey(ledger, key.keyId, US);
      expect(await resumeKey(ledger, key.keyId, US)).toBe("over");
      expect([await looks(key), await tries(key)]).toEqual(["api_key_revoked", "api_key_revoked"]);
    });

    test("a key expires by itself, to the millisecond, and nothing brings it back", async () => {
      const expiresAtMs = clock.nowMs() + 60_000;
      const key = await customer(5, { expiresAtMs });
      expect([await looks(key), await tries(key)]).toEqual(["good", "admitted"]);
      expect(await endExpiredKeys(ledger, US)).toBe(0);
      clock.advance(60_000);
      expect([await looks(key), await tries(key)]).toEqual(["api_key_expired", "api_key_expired"]);
      expect(await changeKey(ledger, key.keyId, { expiresAtMs: null }, US)).toBe("over");
      expect(await pauseKey(ledger, key.keyId, US)).toBe("over");
      expect([await endExpiredKeys(ledger, US), await endExpiredKeys(ledger, US)]).toEqual([1, 0]);
      expect([await looks(key), await tries(key)]).toEqual(["api_key_expired", "api_key_expired"]);
      expect((await actions(key))[0]).toBe("key.expire");
      expect(await findKey(ledger, key.keyId)).toMatchObject({
        state: "expired",
        expiresAtMs,
        revokedAtMs: null,
      });
    });

    test("an expiry in the past is refused, for a new key and for an old one", async () => {
      const key = await customer(5);
      expect(await changeKey(ledger, key.keyId, { expiresAtMs: clock.nowMs() - 1 }, US)).toBe("past");
    });

    test("a key with a list of models serves only those; with an unreadable list it serves none", async () => {
      const key = await customer(5, { models: ["other"] });
      const other = releaseOf({ model: "other" });
      expect(await tries(key)).toBe("model_not_allowed");
      expect(await tries(key, { release: other })).toBe("admitted");
      await changeKey(ledger, key.keyId, { allowedModels: ["m", "other"] }, US);
      expect(await tries(key)).toBe("admitted");
      await ledger.change(null, () =>
        ask("UPDATE api_key SET allowed_models = '[' WHERE key_id = ?1", [key.keyId]),
      );
      expect(await tries(key)).toBe("model_not_allowed");
    });

    test("a plan above the key's output limit is returned with that limit, and nothing is held", async () => {
      const key = await customer(5, { output: 50 });
      expect(await ledger.checkKey(key)).toMatchObject({ maxOutputTokens: 50 });
      const { outcome } = await world.admit(key, { hold: 1, output: 51 });
      expect(outcome).toMatchObject({ kind: "refused", outputAtMost: 50 });
      expect(await world.balance(key.organizationId)).toBe("5.00 0.00");
      expect(await tries(key, { output: 50 })).toBe("admitted");
    });

    test("a successor has its predecessor's settings; both work until the overlap is over", async () => {
      const key = await customer(5, { limit: 4, day: 2, models: ["m"], output: 200 });
      const keyId = newId("key");
      const { value: _, ...minted } = mintKey({ organizationId: key.organizationId, keyId });
      const made = await replaceKey(ledger, key.keyId, { id: keyId, ...minted, overlapMs: HOUR_MS }, US);
      expect(made).toMatchObject({
        limit: 4_000_000_000n,
        dayLimit: 2_000_000_000n,
        weekLimit: null,
        allowedModels: ["m"],
        maxOutputTokens: 200,
      } as never);
      expect(await findKey(ledger, keyId)).toMatchObject({ lastFour: minted.lastFour });
      const successor = { ...key, keyId, digest: minted.digest };
      expect([await tries(key), await tries(successor)]).toEqual(["admitted", "admitted"]);
      clock.advance(HOUR_MS);
      expect([await tries(key), await tries(successor)]).toEqual(["api_key_expired", "admitted"]);
      expect(await replaceKey(ledger, key.keyId, { id: newId("key"), ...minted, overlapMs: null }, US)).toBe(
        "over",
      );
      expect((await actions(key)).slice(0, 2)).toEqual(["key.settings", "key.create"]);
    });

    test("its version is the one that older programs report, until it has a setting that they do not know", async () => {
      const key = await customer(5, { limit: 1 });
      const old = await findKey(ledger, key.keyId);
      const told = versionOf("key", { ...NOTHING, name: "test", limit: 1_000_000_000n });
      expect(old && versionOf("key", old)).toBe(told);
      const edits = await Promise.all(
        [50, 60].map((maxOutputTokens) =>
          changeKey(ledger, key.keyId, { maxOutputTokens, version: told }, US),
        ),
      );
      expect(edits.filter((edit) => edit === "changed_meanwhile")).toHaveLength(1);
    });
  });

  describe("limits of the day and of the week", () => {
    test.each([["day"], ["week"]] as const)(
      "a %s limit of 6.5 holds lets exactly 7 of 100 in",
      async (period) => {
        const key = await customer(100, { [period]: 6.5 });
        const outcomes = await Promise.all(Array.from({ length: 100 }, () => world.admit(key, { hold: 1 })));
        expect(outcomes.filter(({ says }) => says === "admitted")).toHaveLength(7);
        const refused = outcomes.find(({ says }) => says === OVER)?.outcome;
        expect(refused).toMatchObject({ refusal: { details: { period, limit_usd: "6.500000000" } } });
        await Promise.all(outcomes.map(({ id }) => world.void(key, id, true)));
        expect(await tries(key)).toBe("admitted");
      },
    );

    test("what ends in the same commit as a new request counts for its own key, and for no other", async () => {
      clock.set("2031-03-04T12:00:00Z");
      const key = await customer(9, { day: 1 });
      const other = await world.key(key.organizationId, { day: 1 });
      const running = await world.admit(key, { hold: 0.3 });
      const { id } = await world.admit(key, { hold: 1.2 });
      const [, late, beside] = await Promise.all([
        world.settle(key, id, { dollars: 1.2 }),
        world.admit(key, { hold: 0.1 }),
        world.admit(other, { hold: 0.1 }),
      ]);
      expect([late.says, beside.says]).toEqual([OVER, "admitted"]);
      expect(late.outcome).toMatchObject({
        authenticated: true,
        short: { of: "key_limit", missing: 500_000_000n },
      });
      await world.void(key, running.id, true);
      await world.void(other, beside.id, true);
    });

    test("a new day needs no job: a request running over midnight is held and charged on the day before", async () => {
      clock.set("2031-03-05T23:59:00Z"); // a Wednesday
      const key = await customer(9, { day: 1, week: 2 });
      const late = await world.admit(key, { hold: 1 });
      expect(await tries(key)).toBe(OVER);
      clock.set("2031-03-06T00:00:00Z");
      const next = await world.admit(key, { hold: 0.5 });
      expect(next.says).toBe("admitted");
      await world.settle(key, late.id, { dollars: 0.9 });
      await world.settle(key, next.id, { dollars: 0.4 });
      expect(await figures(key)).toEqual(["day 0.4 0", "week 1.3 0"]);
      expect(await tries(key)).toBe("admitted");
    });

    test("a new week begins on Monday, even across the end of a month", async () => {
      clock.set("2031-04-30T12:00:00Z"); // a Wednesday
      const key = await customer(9, { week: 1 });
      const open = await world.admit(key, { hold: 0.6 });
      clock.set("2031-05-01T12:00:00Z");
      const may = await world.admit(key, { hold: 0.5 });
      expect([may.says, await tries(key)]).toEqual(["admitted", OVER]);
      expect(await figures(key)).toEqual(["week 0 1.1"]);
      await world.settle(key, may.id, { dollars: 0.1 });
      clock.set("2031-05-04T23:59:59Z");
      expect(await figures(key)).toEqual(["week 0.1 0.6"]);
      clock.set("2031-05-05T00:00:01Z");
      expect(await figures(key)).toEqual(["week 0 0"]);
      await world.void(key, open.id, true);
    });

    test("a new limit counts what the day has already spent and held", async () => {
      clock.set("2031-06-03T10:00:00Z");
      const key = await customer(9);
      const yesterday = await world.admit(key, { hold: 3 });
      clock.set("2031-06-04T10:00:00Z");
      const spent = await world.admit(key, { hold: 1 });
      await world.settle(key, spent.id, { dollars: 0.7 });
      const open = await world.admit(key, { hold: 0.3 });
      await changeKey(ledger, key.keyId, { dayLimit: 1_000_000_001n as NanoUsd }, US);
      expect(await figures(key)).toEqual(["day 0.7 0.3"]);
      expect(await tries(key)).toBe("admitted");
      await changeKey(ledger, key.keyId, { dayLimit: 1_000_000_000n as NanoUsd }, US);
      expect(await tries(key)).toBe(OVER);
      for (const { id } of [yesterday, open]) await world.void(key, id, true);
      expect(await tries(key)).toBe("admitted");
    });

    test("of several reached limits the one that opens last is reported", async () => {
      clock.set("2031-07-29T10:00:00Z"); // a Tuesday; the month ends on Thursday
      const key = await customer(9, { day: 1, week: 1, limit: 1 });
      const { id } = await world.admit(key, { hold: 1 });
      const { outcome } = await world.admit(key, { hold: 1 });
      const resets_at = "2031-08-04T00:00:00.000Z";
      expect(outcome).toMatchObject({ refusal: { details: { period: "week", resets_at } } });
      await world.void(key, id, true);
    });

    test("whatever is admitted, settled, voided and waited for: a request is admitted exactly while every limit has room", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.record({
            day: fc.integer({ min: 1, max: 9 }),
            week: fc.integer({ min: 1, max: 15 }),
            limit: fc.integer({ min: 1, max: 25 }),
          }),
          fc.array(STEP, { minLength: 5, maxLength: 25 }),
          async (limits, steps) => {
            clock.set("2032-01-28T06:00:00Z");
            await play(world, clock, { key: await customer(500, limits), limits, steps });
          },
        ),
        { numRuns: 12 },
      );
    }, 120_000);

    test("the requests recorded with a key are its open ones", async () => {
      clock.set("2033-02-02T10:00:00Z");
      const key = await customer(50, { day: 40 });
      for (let round = 0; round < 10; round += 1) {
        const { id } = await world.admit(key, { hold: 1 });
        await world.settle(key, id, { dollars: 0.5 });
      }
      const rows = await ledger.read(() => ask("SELECT 1 FROM key_hold WHERE key_id = ?1", [key.keyId]));
      expect(rows.length).toBeLessThanOrEqual(2);
    });
  });

  async function figures(key: KeyInHand): Promise<string[]> {
    const { spans } = (await findKey(ledger, key.keyId)) ?? { spans: [] };
    return spans
      .filter(({ period }) => period !== "month")
      .map(({ period, spent, held }) => `${period} ${Number(spent) / 1e9} ${Number(held) / 1e9}`);
  }
}

const NOTHING = {
  limit: null,
  dayLimit: null,
  weekLimit: null,
  allowedModels: null,
  maxOutputTokens: null,
  expiresAtMs: null,
};

type Step =
  | { does: "admit"; hold: number }
  | { does: "settle" | "void"; which: number; part: number }
  | { does: "wait"; hours: number };

const STEP: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ does: fc.constant("admit" as const), hold: fc.integer({ min: 0, max: 4 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constantFrom("settle" as const, "void" as const),
      which: fc.nat(20),
      part: fc.integer({ min: 0, max: 4 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant("wait" as const), hours: fc.integer({ min: 1, max: 40 }) }),
  },
);

/** The same on the ledger and in a few lines that remember every request. */
async function play(
  world: World,
  clock: TestClock,
  {
    key,
    limits,
    steps,
  }: { key: KeyInHand; limits: { day: number; week: number; limit: number }; steps: readonly Step[] },
): Promise<void> {
  const made: { id: string; atMs: number; hold: number; charge: number | null }[] = [];
  const since = (fromMs: number): number =>
    made.reduce((sum, { atMs, hold, charge }) => (atMs >= fromMs ? sum + (charge ?? hold) : sum), 0);
  for (const step of steps) {
    if (step.does === "wait") clock.advance(step.hours * HOUR_MS);
    else if (step.does === "admit") {
      const now = new Date(clock.nowMs());
      const today = Math.floor(clock.nowMs() / DAY_MS) * DAY_MS;
      const monday = today - ((now.getUTCDay() + 6) % 7) * DAY_MS;
      const first = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
      const room = since(today) < limits.day && since(monday) < limits.week && since(first) < limits.limit;
      const { id, says } = await world.admit(key, { hold: step.hold });
      expect(says).toBe(room ? "admitted" : OVER);
      if (room) made.push({ id, atMs: clock.nowMs(), hold: step.hold, charge: null });
    } else {
      const open = made.filter(({ charge }) => charge === null);
      const one = open[step.which % Math.max(1, open.length)];
      if (one === undefined) continue;
      one.charge = step.does === "void" ? 0 : Math.min(step.part, one.hold);
      if (step.does === "void") await world.void(key, one.id, true);
      else await world.settle(key, one.id, { dollars: one.charge });
    }
  }
  for (const { id, charge } of made) if (charge === null) await world.void(key, id, true);
}
