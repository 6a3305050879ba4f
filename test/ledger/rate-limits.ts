// Rate limits, as every store must keep them (operate.md §1): counted in COMMIT 1, reserved at admission, released at
// the end, for an organization, a key, a model, or a key and a model. One token costs a cent.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { byItself } from "../../src/domain/actor.ts";
import { NO_RATE_DEFAULTS, type RateDefaults, type RateLimits } from "../../src/domain/rate-limits.ts";
import type { AdmissionDecision, Ledger } from "../../src/ledger/ledger.ts";
import { mendRunning } from "../../src/ledger/rate-running.ts";
import {
  findRateLimits,
  type RateChange,
  rateLimitsOf,
  setRateLimits,
} from "../../src/registry/rate-limits.ts";
import { pauseKey, revokeKey } from "../../src/registry/key-life.ts";
import { ask } from "../../src/store/sql.ts";
import { stoppedClock } from "../support/clock.ts";
import { type KeyInHand, type Opened, releaseOf, World } from "./world.ts";

type Open = (clock: ReturnType<typeof stoppedClock>, rateDefaults: RateDefaults) => Promise<Opened>;
const MINUTE_MS = 60_000;

export function rateConformance(store: string, open: Open): void {
  const clock = stoppedClock();
  let opened: Opened;
  let world: World;
  let ledger: Ledger;
  let defaults = NO_RATE_DEFAULTS;
  const begin = (rateDefaults: RateDefaults) => async (): Promise<void> => {
    defaults = rateDefaults;
    opened = await open(clock, rateDefaults);
    ledger = opened.ledger;
    world = new World(ledger);
    await world.publish();
    await world.publish({ model: "other" });
  };
  const finish = async (): Promise<void> => {
    // Clocks jump here while requests run.
    const { violations } = await ledger.verify();
    expect(violations.filter(({ invariant }) => !invariant.startsWith("I13"))).toEqual([]);
    await opened.close();
  };
  const customer = async (): Promise<KeyInHand> => world.key(await world.organization(1000));
  const set = async (
    key: { organizationId: string; keyId?: string },
    limits: Partial<RateLimits>,
    also: { model?: string; by?: RateChange["by"] } = {},
  ) => {
    const { model = "", by = "operator" } = also;
    const { organizationId, keyId = "" } = key;
    const change = { organizationId, keyId, model, limits, by };
    const outcome = await setRateLimits(ledger, change, { defaults, actor: byItself("test") });
    clock.advance(1); // in the same millisecond nothing refills
    return outcome;
  };
  /** With a prompt of so many tokens, and an answer of at most so many. */
  const admit = async (
    key: KeyInHand,
    terms: { tokens?: number; answer?: number; model?: string; bounded?: boolean; countFirst?: boolean } = {},
  ) => {
    const { tokens = 2, answer = 0, model = "m", bounded = false, countFirst = false } = terms;
    const admission = world.admission(key, { hold: 1, release: releaseOf({ model }) });
    if (admission.asked.kind !== "plan") throw new Error("nothing is asked");
    Object.assign(admission.asked.plan, {
      promptBound: tokens,
      outputBound: answer,
      bounded,
      countFirst,
    });
    const outcome = await ledger.admit(admission);
    return { id: admission.requestId, outcome, says: saysOf(outcome) };
  };
  const settle = (key: KeyInHand, id: string, tokens = 2) => world.settle(key, id, { dollars: tokens / 100 });
  /** How many of `count` are admitted, in sequence. */
  const letIn = async (count: number, one: () => ReturnType<typeof admit>): Promise<number> => {
    let passed = 0;
    for (let n = 0; n < count; n += 1) if ((await one()).says === "admitted") passed += 1;
    return passed;
  };

  describe(`${store}: rates`, () => {
    beforeAll(begin(NO_RATE_DEFAULTS));
    afterAll(finish);

    test("a minute's worth at once, then at the limit's rate, to the millisecond", async () => {
      const key = await customer();
      await set(key, { requestsPerMinute: 6 });
      expect(await letIn(10, () => admit(key))).toBe(6);
      clock.advance(9_999);
      expect((await admit(key)).outcome).toMatchObject({
        refusal: {
          code: "rate_limit_exceeded",
          retryAfterMs: 1,
          details: { subject: "key", dimension: "requests", limit: 6, remaining: 0 },
        },
      });
      clock.advance(1);
      expect(await letIn(2, () => admit(key))).toBe(1);
    });

    test("a refused request takes nothing, and neither does a replay", async () => {
      const key = await customer();
      await set(key, { requestsPerMinute: 2, concurrent: 2 });
      const first = await world.admit(key, { hold: 1, idempotencyKey: "replayed" });
      await world.settle(key, first.id, { dollars: 0.1, answer: "kept" });
      for (let n = 0; n < 3; n += 1)
        expect((await world.admit(key, { hold: 1, idempotencyKey: "replayed" })).says).toBe("replay");
      for (let n = 0; n < 3; n += 1)
        expect((await world.admit(key, { hold: 5000 })).says).toBe("insufficient_credits");
      expect(await letIn(3, () => admit(key))).toBe(1);
    });

    test.each([
      ["organization", {}, [true, true, true]],
      ["key", { key: true }, [true, false, true]],
      ["model", { model: "m" }, [true, true, false]],
      ["key_model", { key: true, model: "m" }, [true, false, false]],
    ] as const)("%s: counts its own requests and nobody else's", async (subject, of, shared) => {
      const key = await customer();
      const sister = await world.key(key.organizationId);
      const place = { organizationId: key.organizationId, ...("key" in of && { keyId: key.keyId }) };
      await set(place, { requestsPerMinute: 1 }, "model" in of ? { model: of.model } : {});
      expect((await admit(key)).says).toBe("admitted");
      const refused = await admit(key);
      expect(refused.outcome).toMatchObject({ refusal: { details: { subject } } });
      const [, bySister, byOther] = shared;
      expect([
        (await admit(sister)).says !== "admitted",
        (await admit(key, { model: "other" })).says !== "admitted",
      ]).toEqual([bySister, byOther]);
      expect((await admit(await customer())).says).toBe("admitted");
    });

    test("an operator's limit on a model applies to each organization separately, on future routes, too", async () => {
      const place = { organizationId: "", keyId: "" };
      await world.publish({ model: "popular" });
      await set(place, { requestsPerMinute: 2 }, { model: "popular" });
      await world.publish({ model: "popular", route: "popular@p/second" });
      const second = releaseOf({ model: "popular", route: "popular@p/second" });
      for (const one of [await customer(), await customer()])
        expect(await letIn(4, () => admit(one, { model: "popular" }))).toBe(2);
      const third = await customer();
      const admission = (): ReturnType<Ledger["admit"]> =>
        ledger.admit(world.admission(third, { hold: 1, release: second }));
      expect([saysOf(await admission()), saysOf(await admission()), saysOf(await admission())]).toEqual([
        "admitted",
        "admitted",
        "rate_limit_exceeded",
      ]);
      await set({ organizationId: third.organizationId }, { requestsPerMinute: 30 }, { model: "popular" });
      expect(await letIn(40, () => admit(third, { model: "popular" }))).toBe(28);
      await set(place, { requestsPerMinute: null }, { model: "popular" });
      expect(await letIn(4, async () => admit(await customer(), { model: "popular" }))).toBe(4);
    });

    test("the check before the body gives COMMIT 1's answer for every request of the key, and takes nothing", async () => {
      const key = await customer();
      const organization = { organizationId: key.organizationId };
      const early = async () => (await ledger.rateRefusal(key))?.refusal ?? null;
      await set(key, { requestsPerMinute: 2, tokensPerMinute: 10 });
      await set(key, { requestsPerMinute: 1 }, { model: "other" });
      for (const [tokens, model] of [
        [10, "m"],
        [0, "other"],
      ] as const) {
        expect(await early()).toBeNull();
        expect((await admit(key, { tokens, model })).says).toBe("admitted");
      }
      const { outcome } = await admit(key, { tokens: 0 });
      expect(await ledger.rateRefusal(key)).toMatchObject({
        refusal: { code: "rate_limit_exceeded", details: { subject: "key", dimension: "requests" } },
        ...("rates" in outcome && { rates: outcome.rates }),
      });
      clock.advance(-1000); // rows are stamped as before; durations use the clock
      expect((await early())?.retryAfterMs).toBe(31_000);
      clock.advance(31_000);
      expect(await early()).toBeNull();
      await set(organization, { concurrent: 2 });
      expect((await early())?.details).toMatchObject({ subject: "organization", dimension: "concurrent" });
      await set(organization, { concurrent: 3 });
      expect(await early()).toBeNull();
    });

    test("tokens are reserved as quoted; unused ones are free again at the end, all of them at a release", async () => {
      const key = await customer();
      await set(key, { tokensPerMinute: 100 });
      const first = await admit(key, { tokens: 100 });
      expect((await admit(key)).outcome).toMatchObject({
        refusal: { type: "tokens", details: { dimension: "tokens", limit: 100, remaining: 0, tokens: 2 } },
      });
      await settle(key, first.id, 40);
      const second = await admit(key, { tokens: 60 });
      expect([second.says, (await admit(key)).says]).toEqual(["admitted", "rate_limit_exceeded"]);
      await world.void(key, second.id, true);
      expect((await admit(key, { tokens: 61 })).says).toBe("rate_limit_exceeded");
      expect((await admit(key, { tokens: 60 })).says).toBe("admitted");
    });

    test("tokens of the prompt and of the answer count alike", async () => {
      const key = await customer();
      await set(key, { tokensPerMinute: 100 });
      const { id } = await admit(key, { tokens: 70, answer: 30 });
      expect((await admit(key)).says).toBe("rate_limit_exceeded");
      const usage = { promptTokens: 30, completionTokens: 20, cachedTokens: null, reasoningTokens: null };
      await world.settle(key, id, { dollars: 0.5, usage });
      expect((await admit(key, { tokens: 51 })).says).toBe("rate_limit_exceeded");
      expect((await admit(key, { tokens: 50 })).says).toBe("admitted");
    });

    test("no more is released than was certainly unused: holding long requests accumulates nothing", async () => {
      const key = await customer();
      await set(key, { tokensPerMinute: 100 });
      const saved = await admit(key, { tokens: 100 });
      clock.advance(MINUTE_MS);
      const used = await admit(key, { tokens: 100 });
      await settle(key, used.id, 100);
      await settle(key, saved.id, 0);
      expect((await admit(key)).says).toBe("rate_limit_exceeded");
      clock.advance(MINUTE_MS / 2);
      expect((await admit(key, { tokens: 51 })).says).toBe("rate_limit_exceeded");
      expect((await admit(key, { tokens: 50 })).says).toBe("admitted");
    });

    test("lowering a prompt's hold releases its tokens at once", async () => {
      const key = await customer();
      await set(key, { tokensPerMinute: 2_000_000 });
      const { id } = await world.admit(key, { hold: 5 });
      expect((await admit(key, { tokens: 999_000 })).says).toBe("rate_limit_exceeded");
      const lowered = await world.admit(key, { hold: 1, lower: [{ id, to: 1 }] });
      expect(lowered.says).toBe("rate_limit_exceeded"); // of two million, but the other one is lowered
      // By a million of tokens minus a hundred.
      expect((await admit(key, { tokens: 999_901 })).says).toBe("rate_limit_exceeded");
      expect((await admit(key, { tokens: 999_900 })).says).toBe("admitted");
    });

    test.each(["the organization", "every organization"])(
      "a request that began before there were tokens per minute gives none back: a limit of %s",
      async (whose) => {
        const model = whose.replace(" ", "-");
        await world.publish({ model });
        const key = await customer();
        const place = { organizationId: whose === "the organization" ? key.organizationId : "" };
        const takes = (tokens: number) => admit(key, { tokens, model });
        await set(place, { requestsPerMinute: 100 }, { model });
        const early = await takes(100);
        await set(place, { tokensPerMinute: 100 }, { model });
        expect([(await takes(90)).says, (await takes(11)).says]).toEqual(["admitted", "rate_limit_exceeded"]);
        await settle(key, early.id, 1);
        expect((await takes(11)).says).toBe("rate_limit_exceeded");
        await set(place, { tokensPerMinute: null }, { model });
        const meanwhile = await takes(100);
        await set(place, { tokensPerMinute: 100 }, { model });
        await settle(key, meanwhile.id, 1);
        expect([(await takes(10)).says, (await takes(2)).says]).toEqual(["admitted", "rate_limit_exceeded"]);
      },
    );

    test("neither does a request in the same millisecond in which the first took tokens of its limit", async () => {
      const model = "of-a-millisecond";
      await world.publish({ model });
      const key = await customer();
      const early = await admit(key, { tokens: 100, model });
      await setRateLimits(
        ledger,
        { organizationId: "", keyId: "", model, limits: { tokensPerMinute: 100 }, by: "operator" },
        { defaults, actor: byItself("test") },
      );
      expect((await admit(key, { tokens: 90, model })).says).toBe("admitted");
      await settle(key, early.id, 1);
      expect((await admit(key, { tokens: 90, model })).says).toBe("rate_limit_exceeded");
    });

    test("a request of more tokens than a whole minute never fits, and is told so", async () => {
      const key = await customer();
      await set(key, { tokensPerMinute: 100 });
      const { outcome } = await admit(key, { tokens: 101 });
      expect(outcome).toMatchObject({
        refusal: { retry: false },
        short: {
          of: "tokens_per_minute",
          tokens: 101,
          limits: [{ subject: "key", limit: 100, remaining: 100 }],
        },
      });
    });

    test("a bound says never only while a whole minute's tokens are free, and nothing of it beside a certain limit", async () => {
      const key = await customer();
      await set(key, { tokensPerMinute: 100, concurrent: 2 });
      const running = await admit(key, { tokens: 50 });
      expect((await admit(key, { tokens: 101, bounded: true })).outcome).toMatchObject({
        refusal: { retry: true, retryAfterMs: 30_000, details: { dimension: "tokens", tokens: 101 } },
        short: { of: "tokens_per_minute", limits: [{ limit: 100, remaining: 50 }] },
      });
      expect((await admit(key, { tokens: 101 })).outcome).toMatchObject({ refusal: { retry: false } });
      const second = await admit(key, { tokens: 1 });
      const { outcome } = await admit(key, { tokens: 101, bounded: true });
      expect(outcome).not.toHaveProperty("short");
      for (const { id } of [running, second]) await world.void(key, id, true);
      expect((await admit(key, { tokens: 101, bounded: true })).outcome).toMatchObject({
        refusal: { retry: false },
        short: { of: "tokens_per_minute" },
      });
    });

    test("a long prompt is to be counted before it leaves less than half of a limit; nothing is taken", async () => {
      const key = await customer();
      await set(key, { tokensPerMinute: 10_000 });
      const asks = async (tokens: number, countFirst = true): Promise<string | undefined> => {
        const { outcome } = await admit(key, { tokens, bounded: true, countFirst });
        return outcome.kind === "refused" ? (outcome.count ? "count" : outcome.refusal.code) : outcome.kind;
      };
      expect(await asks(5001)).toBe("count");
      expect(await asks(5000)).toBe("admitted");
      expect(await asks(157)).toBe("count");
      expect(await asks(156)).toBe("admitted"); // short beside the limit
      expect(await asks(4001, false)).toBe("admitted");
      expect(await asks(4001)).toBe("rate_limit_exceeded");
    });

    test("a prompt that costs nothing gives its tokens back when it is counted, too", async () => {
      const key = await customer();
      await set(key, { tokensPerMinute: 2_000_000 });
      const { id } = await world.admit(key, { hold: 0 });
      await world.admit(key, { hold: 0, lower: [{ id, to: 0 }] });
      expect((await admit(key, { tokens: 999_901 })).says).toBe("rate_limit_exceeded");
      expect((await admit(key, { tokens: 999_900 })).says).toBe("admitted");
      await world.void(key, id, true);
    });

    test("concurrent requests are the open holds", async () => {
      const key = await customer();
      const before = await admit(key);
      await set(key, { concurrent: 2 });
      const second = await admit(key);
      expect((await admit(key)).outcome).toMatchObject({ refusal: { details: { dimension: "concurrent" } } });
      await settle(key, before.id);
      const third = await admit(key);
      expect([second.says, third.says, (await admit(key)).says]).toEqual([
        "admitted",
        "admitted",
        "rate_limit_exceeded",
      ]);
      await world.void(key, third.id, false);
      expect((await admit(key)).says).toBe("admitted");
    });

    test("a request that ends in the same commit in which its limit begins to count is not counted", async () => {
      const model = "begun";
      await world.publish({ model });
      const key = await customer();
      const going = await Promise.all([admit(key, { model }), admit(key, { model }), admit(key, { model })]);
      await set({ organizationId: "", keyId: "" }, { concurrent: 3 }, { model });
      const [settled, voided] = going.map(({ id }) => id);
      const [, , next] = await Promise.all([
        settle(key, settled ?? ""),
        world.void(key, voided ?? "", true),
        admit(key, { model }),
      ]);
      expect(next.says).toBe("admitted");
      expect((await findRateLimits(ledger, { ...key, keyId: "", model }, defaults)).running).toBe(2);
      expect((await ledger.verify()).violations).toEqual([]);
      expect(await letIn(2, () => admit(key, { model }))).toBe(1);
    });

    test("of many concurrent requests exactly as many are admitted as there is room for, with their limits in one commit", async () => {
      const key = await customer();
      await set(key, { concurrent: 7 });
      await set({ organizationId: key.organizationId }, { tokensPerMinute: 10 });
      const says = (await Promise.all(Array.from({ length: 60 }, () => admit(key)))).map((one) => one.says);
      expect(says.filter((one) => one === "admitted")).toHaveLength(5);
      await set({ organizationId: key.organizationId }, { tokensPerMinute: null });
      const more = (await Promise.all(Array.from({ length: 60 }, () => admit(key)))).map((one) => one.says);
      expect(more.filter((one) => one === "admitted")).toHaveLength(2);
    });

    test("a lowered limit keeps what was taken, and blocks nobody for longer than a minute", async () => {
      const key = await customer();
      await set(key, { requestsPerMinute: 100, concurrent: 100 });
      expect(await letIn(50, () => admit(key))).toBe(50);
      await set(key, { requestsPerMinute: 10, concurrent: null });
      expect((await admit(key)).says).toBe("rate_limit_exceeded");
      clock.advance(6_000);
      expect(await letIn(2, () => admit(key))).toBe(1);
      await set(key, { requestsPerMinute: 20, concurrent: 5 }); // 51 run
      clock.advance(MINUTE_MS);
      expect((await admit(key)).outcome).toMatchObject({ refusal: { details: { dimension: "concurrent" } } });
    });

    test("the organization itself may set lower limits than the operator, never higher; each removes their own", async () => {
      const key = await customer();
      const own = { by: "organization" } as const;
      await set(key, { requestsPerMinute: 4 });
      expect(await set(key, { requestsPerMinute: 5 }, own)).toEqual({
        kind: "above",
        dimension: "requests_per_minute",
        atMost: 4,
      });
      expect(await set(key, { requestsPerMinute: 2, tokensPerMinute: 50 }, own)).toMatchObject({
        kind: "set",
        record: { inForce: { requestsPerMinute: 2, tokensPerMinute: 50 }, set: { requestsPerMinute: 4 } },
      });
      expect(await letIn(5, () => admit(key))).toBe(2);
      await set(key, { requestsPerMinute: null }, own);
      expect(await letIn(5, () => admit(key))).toBe(2);
      expect(await rateLimitsOf(ledger, { ...key, keyId: undefined }, defaults)).toMatchObject([
        { keyId: key.keyId, own: { requestsPerMinute: null, tokensPerMinute: 50 } },
      ]);
    });

    test("keys that are revoked, of others or unknown, and unknown organizations", async () => {
      const key = await customer();
      const strange = { organizationId: key.organizationId, keyId: "key_of_nobody" };
      expect(await set(strange, { concurrent: 1 })).toEqual({ kind: "unknown_key" });
      expect(
        await set({ organizationId: (await customer()).organizationId, keyId: key.keyId }, { concurrent: 1 }),
      ).toEqual({ kind: "unknown_key" });
      expect(await set({ organizationId: "org_none" }, { concurrent: 1 })).toEqual({
        kind: "unknown_organization",
      });
      await pauseKey(ledger, key.keyId, byItself("test"));
      expect(await set(key, { concurrent: 1 })).toMatchObject({ kind: "set" });
      await revokeKey(ledger, key.keyId, byItself("test"));
      expect(await set(key, { concurrent: 1 })).toEqual({ kind: "revoked_key" });
    });

    test("the remainder is reported for each limit per minute, for the nearest one, and with a refusal", async () => {
      const key = await customer();
      await set(key, { requestsPerMinute: 60, tokensPerMinute: 600 });
      const { outcome } = await admit(key, { tokens: 100 });
      const standings = [
        { subject: "key", of: "requests", limit: 60, remaining: 59, resetMs: 1000 },
        { subject: "key", of: "tokens", limit: 600, remaining: 500, resetMs: 10_000 },
      ];
      expect(outcome).toMatchObject({ rates: standings });
      expect((await admit(key, { tokens: 501 })).outcome).toMatchObject({ rates: standings });
    });

    test("the count of running requests is corrected if an older gateway left it wrong", async () => {
      const key = await customer();
      await set(key, { concurrent: 3 });
      await admit(key);
      await ledger.change(null, function* () {
        yield* ask("UPDATE rate_limit SET running = 3 WHERE key_id = ?1", [key.keyId]);
      });
      expect((await admit(key)).says).toBe("rate_limit_exceeded");
      const { violations } = await ledger.verify();
      expect(violations.map(({ invariant }) => invariant)).toContain("I19 a limit counts what runs");
      expect(await mendRunning(ledger)).toBe(1);
      expect((await admit(key)).says).toBe("admitted");
      expect((await findRateLimits(ledger, { ...key, model: "" }, defaults)).running).toBe(2);
    });

    test.each([
      ["beyond every number", "9223372036854775807"],
      ["before every number", "-9223372036854775808"],
      ["a century ahead", "4900000000000000"],
    ])(
      "a damaged row, %s, blocks nobody, keeps no neighbour from its answer, and is repaired",
      async (_, figure) => {
        const [key, neighbour] = [await customer(), await customer()];
        await set(key, { requestsPerMinute: 3, tokensPerMinute: 100 });
        const open = await admit(key);
        const running = figure.startsWith("-") ? "0" : figure;
        await ledger.change(null, function* () {
          yield* ask(
            `UPDATE rate_limit SET requests_tat = ${figure}, tokens_tat = ${figure}, used_tat = ${figure}, since = ${figure},
             running = ${running} WHERE key_id = ?1`,
            [key.keyId],
          );
        });
        expect(await ledger.rateRefusal(key)).toBeNull();
        const says = await Promise.all([
          settle(key, open.id),
          admit(neighbour),
          admit(key),
          admit(key),
          admit(key),
        ]);
        expect(
          says.slice(1).map((one) => saysOf((one as Awaited<ReturnType<typeof admit>>).outcome)),
        ).toEqual(["admitted", "admitted", "admitted", "admitted"]);
        expect((await admit(key)).says).toBe("rate_limit_exceeded");
        expect(await set(key, { requestsPerMinute: 4 })).toMatchObject({ kind: "set" });
        await mendRunning(ledger);
        expect((await findRateLimits(ledger, { ...key, model: "" }, defaults)).running).toBe(3);
      },
    );

    test.each([-30, -90, 90])("a clock that is %d minutes ahead blocks nobody", async (minutes) => {
      const key = await customer();
      await set(key, { requestsPerMinute: 2, tokensPerMinute: 20 });
      const open = await admit(key, { tokens: 10 });
      expect(await letIn(3, () => admit(key))).toBe(1);
      clock.advance(minutes * MINUTE_MS);
      expect(await ledger.rateRefusal(key)).toBeNull();
      await settle(key, open.id, 2);
      expect(await letIn(3, () => admit(key))).toBe(2);
      clock.advance(MINUTE_MS);
      expect(await letIn(3, () => admit(key))).toBe(2);
      clock.advance(Math.max(0, -minutes) * MINUTE_MS);
    });

    test("usage under a higher limit holds back no tokens of later requests", async () => {
      const key = await customer();
      await set(key, { tokensPerMinute: 90 });
      const open = await admit(key, { tokens: 90 });
      await set(key, { tokensPerMinute: 9 });
      await settle(key, open.id, 90);
      clock.advance(MINUTE_MS);
      for (let n = 0; n < 5; n += 1) {
        const one = await admit(key, { tokens: 4 });
        expect(one.says).toBe("admitted");
        await settle(key, one.id, 1);
      }
    });

    test("whatever comes in whatever order: never above the limit by more than what was running", async () => {
      const step = fc.record({
        wait: fc.integer({ min: 0, max: 20_000 }),
        tokens: fc.integer({ min: 1, max: 100 }),
        used: fc.double({ min: 0, max: 1, noNaN: true }),
        ends: fc.boolean(),
      });
      const run = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const key = await customer();
        await set(key, { requestsPerMinute: 10, tokensPerMinute: 200, concurrent: 5 });
        interface LetIn {
          id: string;
          atMs: number;
          /** What it used, as soon as that is known. */
          tokens: number;
          beside: number;
        }
        const open: LetIn[] = [];
        const all: LetIn[] = [];
        for (const { wait, tokens, used, ends } of steps) {
          clock.advance(wait);
          const ended = ends ? open.shift() : undefined;
          if (ended !== undefined) {
            ended.tokens = Math.floor(ended.tokens * used);
            await settle(key, ended.id, ended.tokens);
          }
          const { says, id } = await admit(key, { tokens });
          if (says !== "admitted") continue;
          const beside = sum(open.map((one) => one.tokens));
          const one = { id, atMs: clock.nowMs(), tokens, beside };
          open.push(one);
          all.push(one);
          expect(open.length).toBeLessThanOrEqual(5);
        }
        for (const [index, first] of all.entries())
          for (const last of all.slice(index)) {
            const between = all.slice(index, all.indexOf(last) + 1);
            const minutes = (last.atMs - first.atMs) / MINUTE_MS;
            expect(between.length).toBeLessThanOrEqual(10 + 10 * minutes + 1e-6);
            const tokens = sum(between.map((one) => one.tokens));
            expect(tokens).toBeLessThanOrEqual(200 + 200 * minutes + first.beside + 1e-6);
          }
      });
      await fc.assert(run, { numRuns: 8 });
    });
  });

  describe(`${store}: default rates`, () => {
    beforeAll(
      begin({
        organization: { requestsPerMinute: null, tokensPerMinute: null, concurrent: 5 },
        key: { requestsPerMinute: 3, tokensPerMinute: null, concurrent: null },
      }),
    );
    afterAll(finish);

    test("apply to every key and organization, unless others are set", async () => {
      const key = await customer();
      expect(await letIn(4, () => admit(key))).toBe(3);
      const sister = await world.key(key.organizationId);
      expect(await letIn(4, () => admit(sister))).toBe(2);
      await set({ organizationId: key.organizationId }, { concurrent: 20 });
      await set(sister, { requestsPerMinute: 9 });
      expect(await letIn(10, () => admit(sister))).toBe(7);
      await set(sister, { requestsPerMinute: null });
      expect((await admit(sister)).says).toBe("rate_limit_exceeded");
      expect(await findRateLimits(ledger, { ...key, model: "" }, defaults)).toMatchObject({
        set: { requestsPerMinute: null },
        inForce: { requestsPerMinute: 3 },
        running: 3,
      });
    });
  });
}

const sum = (amounts: readonly number[]): number => amounts.reduce((all, one) => all + one, 0);

const saysOf = (outcome: AdmissionDecision): string =>
  outcome.kind === "refused" ? outcome.refusal.code : outcome.kind;
