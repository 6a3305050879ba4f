// How every store must survive the death of its process: what was acknowledged is there, what was running is resolved
// (money.md §9).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { BEGUN, releaseOf } from "../world.ts";
import { readRequest } from "../../../src/registry/requests.ts";
import { ask } from "../../../src/store/sql.ts";
import type { Harness } from "./harness.ts";

export function crashConformance(on: Harness): void {
  describe(`${on.store}: a process that dies`, () => {
    beforeAll(on.begin);
    afterAll(on.finish);

    test("what was acknowledged is there; what was running is released, and its key says so", async () => {
      const key = await on.customer(5);
      const settled = await on.world.admit(key, { hold: 1, idempotencyKey: "settled-1" });
      await on.world.settle(key, settled.id, { dollars: 0.5, answer: "kept" });
      const running = await on.world.admit(key, { hold: 1, idempotencyKey: "running-1" });
      const unkeyed = await on.world.admit(key, { hold: 1 });
      on.world.ledger = await on.opened.crash();
      expect(await on.world.balance(key.organizationId)).toBe("4.50 0.00");
      expect((await on.world.admit(key, { hold: 1, idempotencyKey: "settled-1" })).says).toBe("replay");
      expect((await on.world.admit(key, { hold: 1, idempotencyKey: "running-1" })).says).toBe(
        "idempotency_outcome_unknown",
      );
      for (const { id } of [running, unkeyed])
        expect((await readRequest(on.world.ledger, id))?.state).toBe("outcome_unknown");
    });

    test("without enforced bounds: what an older program settled as reported, a stream that went on beyond its maximum", async () => {
      const key = await on.customer(5);
      const old = await on.world.admit(key, { hold: 1 });
      await on.world.settle(key, old.id, { dollars: 0.5 });
      const admission = on.world.admission(key, { hold: 1 });
      if (admission.asked.kind === "plan") admission.asked.plan.outputBound = 5;
      await on.world.ledger.admit(admission);
      await on.world.checkpoint(key, admission.requestId, { tokens: 9 });
      await on.world.ledger.change(null, function* () {
        const older =
          "UPDATE request SET surface = NULL, prompt_bound = 1, output_bound = 1 WHERE request_id = ?1";
        yield* ask(older, [old.id]);
      });
      on.world.ledger = await on.opened.crash();
      expect(await on.world.balance(key.organizationId)).toBe("4.40 0.00");
      expect((await on.world.ledger.verify()).violations).toEqual([]);
    });

    test("a stream is settled for what was stored of it, and its key gets that much back", async () => {
      const key = await on.customer(5);
      const keyed = await on.world.admit(key, { hold: 1, idempotencyKey: "stream-01" });
      await on.world.checkpoint(key, keyed.id, { tokens: 4, sent: { seq: 0, text: BEGUN } });
      await on.world.checkpoint(key, keyed.id, { tokens: 9, sent: { seq: 1, text: "id: 2\ndata: b\n\n" } });
      const unkeyed = await on.world.admit(key, { hold: 1 });
      await on.world.checkpoint(key, unkeyed.id, { tokens: 19 });
      const silent = await on.world.admit(key, { hold: 1 });
      await on.world.checkpoint(key, silent.id, { tokens: 0 });
      on.world.ledger = await on.opened.crash();
      expect(await on.world.balance(key.organizationId)).toBe("4.70 0.00"); // 10 and 20 tokens of a cent
      expect(await readRequest(on.world.ledger, keyed.id)).toMatchObject({
        state: "settled",
        evidence: "delivered_tokens",
        usage: { promptTokens: 1, completionTokens: 9 },
      });
      expect((await readRequest(on.world.ledger, silent.id))?.state).toBe("outcome_unknown");
      const { outcome } = await on.world.admit(key, { hold: 1, idempotencyKey: "stream-01" });
      if (outcome.kind !== "replay") throw new Error(outcome.kind);
      const body = Buffer.from(outcome.answer.body).toString();
      expect(body).toStartWith(`${BEGUN}id: 2\ndata: b\n\nid: 3\ndata: {"error":`);
      expect(body).toContain('"customer_charge_usd":0.1,');
      expect(body).not.toContain("[DONE]");
    });

    test("what the provider reported beyond its bounds before its gateway died is a variance", async () => {
      const key = await on.customer(5);
      const { id } = await on.world.admit(key, { hold: 1 });
      const { route, provider } = releaseOf();
      const told = { promptTokens: 1, completionTokens: 29, cachedTokens: null };
      const answered = {
        n: 1,
        route,
        provider,
        startedAtMs: (await readRequest(on.world.ledger, id))?.admittedAtMs ?? 0,
        durationMs: 3,
        outcome: "answered" as const,
        upstreamId: null,
        upstreamStatus: 200,
        errorClass: null,
        told,
      };
      await on.world.checkpoint(key, id, { tokens: 9, attempts: [answered] });
      on.world.ledger = await on.opened.crash();
      expect(await on.world.balance(key.organizationId)).toBe("4.90 0.00"); // 10 tokens of a cent
      expect((await readRequest(on.world.ledger, id))?.state).toBe("settled");
      const { violations } = await on.world.ledger.verify();
      expect(violations.filter(({ requestId }) => requestId === id)).toEqual([]);
    });

    test("a stream that lost a chunk returns what came before it", async () => {
      const key = await on.customer(5);
      const { id } = await on.world.admit(key, { hold: 1, idempotencyKey: "stream-02" });
      await on.world.checkpoint(key, id, { tokens: 1, sent: { seq: 0, text: BEGUN } });
      await on.world.checkpoint(key, id, { tokens: 2, sent: { seq: 2, text: "id: 3\ndata: c\n\n" } });
      on.world.ledger = await on.opened.crash();
      const { outcome } = await on.world.admit(key, { hold: 1, idempotencyKey: "stream-02" });
      if (outcome.kind !== "replay") throw new Error(outcome.kind);
      expect(Buffer.from(outcome.answer.body).toString()).toStartWith(`${BEGUN}id: 2\ndata: {`);
    });

    test("progress is stored only while the request is open", async () => {
      const key = await on.customer(5);
      const { id } = await on.world.admit(key, { hold: 1 });
      expect((await on.world.checkpoint(key, id, { tokens: 1 })).kind).toBe("kept");
      await on.world.settle(key, id, { dollars: 0.5 });
      expect((await on.world.checkpoint(key, id, { tokens: 2 })).kind).toBe("lost");
      expect(await on.world.balance(key.organizationId)).toBe("4.50 0.00");
    });

    test("a stream's stored parts are deleted at the end of its request", async () => {
      const key = await on.customer(5);
      const keptOf = (requestId: string): Promise<unknown> =>
        on.world.ledger.read(function* () {
          return yield* ask("SELECT seq FROM stream_chunk WHERE request_id = ?1", [requestId]);
        });
      for (const [idempotencyKey, end] of [
        ["stream-03", (id: string) => on.world.settle(key, id, { dollars: 0.5 })],
        ["stream-04", (id: string) => on.world.void(key, id, true)],
      ] as const) {
        const { id } = await on.world.admit(key, { hold: 1, idempotencyKey });
        await on.world.checkpoint(key, id, { tokens: 1, sent: { seq: 0, text: BEGUN } });
        expect(await keptOf(id)).toHaveLength(1);
        await end(id);
        expect(await keptOf(id)).toEqual([]);
      }
    });

    test("its late settlement is lost", async () => {
      const key = await on.world.key(await on.world.organization(5));
      const { id } = await on.world.admit(key, { hold: 1 });
      on.world.ledger = await on.opened.crash();
      expect(await on.world.settle(key, id, { dollars: 0.5 })).toEqual({ kind: "lost" });
      expect(await on.world.balance(key.organizationId)).toBe("5.00 0.00");
    });
  });
}
