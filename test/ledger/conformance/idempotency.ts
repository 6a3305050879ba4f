// Callers' idempotency keys, as every store must keep them: one request per key, its answer replayed (money.md §8).
import { byItself } from "../../../src/domain/actor.ts";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { releaseOf } from "../world.ts";
import { changeKey } from "../../../src/registry/api-keys.ts";
import { setRouteDisabled } from "../../../src/registry/releases.ts";
import { Refusal } from "../../../src/domain/refusals.ts";
import type { AdmissionDecision } from "../../../src/ledger/ledger.ts";
import type { KeyInHand } from "../world.ts";
import type { Harness } from "./harness.ts";

export function idempotencyConformance(on: Harness): void {
  describe(`${on.store}: idempotency keys`, () => {
    beforeAll(on.begin);
    afterAll(on.finish);
    const keyed = { hold: 1, idempotencyKey: "idem-key-1" };

    test("running, then replayed with the same bytes; another body is refused throughout", async () => {
      const key = await on.customer(5);
      const first = await on.world.admit(key, keyed);
      expect((await on.world.admit(key, keyed)).outcome).toEqual({ kind: "running", requestId: first.id });
      expect((await on.world.admit(key, { ...keyed, body: "other" })).says).toBe("idempotency_key_reused");
      await on.world.settle(key, first.id, { dollars: 0.5, answer: "hello" });
      const { outcome } = await on.world.admit(key, keyed);
      expect(outcome).toMatchObject({ kind: "replay", answer: { requestId: first.id, status: 200 } });
      expect(outcome.kind === "replay" && Buffer.from(outcome.answer.body).toString()).toBe(
        '{"answer":"hello","cost":{"customer_charge_usd":0.5}}',
      );
      expect((await on.world.admit(key, { ...keyed, body: "other" })).says).toBe("idempotency_key_reused");
      expect(await on.world.balance(key.organizationId)).toBe("4.50 0.00");
    });

    test("of two concurrent requests one is admitted, the other joins it", async () => {
      const key = await on.customer(5);
      const both = await Promise.all([on.world.admit(key, keyed), on.world.admit(key, keyed)]);
      expect(both.map(({ says }) => says)).toEqual(["admitted", "running"]);
      await on.world.void(key, both[0].id, true);
    });

    test("a replay outranks an empty balance, a limit and a closed route", async () => {
      const key = await on.customer(1, { limit: 5 });
      const { id } = await on.world.admit(key, keyed);
      await on.world.settle(key, id, { dollars: 1, answer: "x" });
      await changeKey(on.ledger, key.keyId, { limit: 0n as never }, byItself("test"));
      await setRouteDisabled(
        on.ledger,
        { route: releaseOf().route, disabled: true, reason: null },
        byItself("test"),
      );
      expect((await on.world.admit(key, keyed)).says).toBe("replay");
      await setRouteDisabled(
        on.ledger,
        { route: releaseOf().route, disabled: false, reason: null },
        byItself("test"),
      );
    });

    test("a void with proof frees the key; one without keeps it taken", async () => {
      const key = await on.customer(5);
      const first = await on.world.admit(key, keyed);
      await on.world.void(key, first.id, true);
      const second = await on.world.admit(key, keyed);
      expect(second.says).toBe("admitted");
      await on.world.void(key, second.id, false);
      expect((await on.world.admit(key, keyed)).says).toBe("idempotency_outcome_unknown");
    });

    test("an answer too large to keep is charged, and its retry told so", async () => {
      const key = await on.customer(5);
      const { id } = await on.world.admit(key, keyed);
      await on.world.settle(key, id, { dollars: 0.5, answer: "x".repeat(9 * 1024 * 1024) });
      expect((await on.world.admit(key, keyed)).says).toBe("idempotency_result_not_retained");
    });

    test("the same string under two API keys is two requests", async () => {
      const organizationId = await on.world.organization(5);
      const [a, b] = [await on.world.key(organizationId), await on.world.key(organizationId)];
      const both = [await on.world.admit(a, keyed), await on.world.admit(b, keyed)];
      expect(both.map(({ says }) => says)).toEqual(["admitted", "admitted"]);
      await on.world.void(a, both[0]?.id ?? "", true);
      await on.world.void(b, both[1]?.id ?? "", true);
    });

    test("the order of refusals: those of the key first, of the shape before its retry is known, of the route after it", async () => {
      const key = await on.customer(5);
      const { id } = await on.world.admit(key, keyed);
      await on.world.settle(key, id, { dollars: 0.5, answer: "x" });
      const ask = (of: KeyInHand, stage: "shape" | "route"): Promise<AdmissionDecision> => {
        const refusal = new Refusal("model_not_found", "met before");
        return on.ledger.admit({
          ...on.world.admission(of, keyed),
          asked: { kind: "refusal", stage, refusal },
        });
      };
      expect(await ask(key, "shape")).toMatchObject({
        kind: "refused",
        authenticated: true,
        refusal: { code: "model_not_found" },
      });
      expect(await ask(key, "route")).toMatchObject({ kind: "replay" });
      const unknown = { ...key, keyId: "key_nobody" };
      for (const stage of ["shape", "route"] as const)
        expect(await ask(unknown, stage)).toMatchObject({
          kind: "refused",
          authenticated: false,
          refusal: { code: "invalid_api_key" },
        });
    });

    test("a retry at the very end of its request gets the answer, or is told that its key is free", async () => {
      const key = await on.customer(5);
      const first = await on.world.admit(key, keyed);
      const [, replay] = await Promise.all([
        on.world.settle(key, first.id, { dollars: 0.5, answer: "x" }),
        on.world.admit(key, keyed),
      ]);
      expect(replay.says).toBe("replay");
      const other = { hold: 1, idempotencyKey: "idem-key-2" };
      const failed = await on.world.admit(key, other);
      const [, again] = await Promise.all([on.world.void(key, failed.id, true), on.world.admit(key, other)]);
      expect(again.says).toBe("admitted");
      expect(await on.world.balance(key.organizationId)).toBe("3.50 1.00");
      await on.world.void(key, again.id, true);
    });

    test("an answer is kept for a day, its key for thirty more", async () => {
      const key = await on.customer(5);
      const { id } = await on.world.admit(key, keyed);
      await on.world.settle(key, id, { dollars: 0.5, answer: "x" });
      on.clock.advance(24 * 3_600_000 - 1000);
      expect((await on.world.admit(key, keyed)).says).toBe("replay");
      on.clock.advance(1000);
      expect((await on.world.admit(key, keyed)).says).toBe("idempotency_key_expired");
      on.clock.advance(30 * 24 * 3_600_000);
      const again = await on.world.admit(key, keyed);
      expect(again.says).toBe("admitted");
      await on.world.void(key, again.id, true);
    });
  });
}
