// What the record of a paid request says of its replays: how long each waited, at no charge, and the hash that a
// replay has to match.
import { expect, test } from "bun:test";
import { chatCompletions } from "../../src/gateway/formats/chat-completions/chat-completions.ts";
import { fingerprintOf } from "../../src/gateway/idempotency.ts";
import { firstOperator, signInAgain } from "../support/browser.ts";
import { testClock } from "../support/clock.ts";
import { hello, startGateway, STORES } from "../support/gateway.ts";
import { waitFor } from "../support/wait.ts";
import { watchWaiters } from "../support/waiters.ts";

const DAY_MS = 86_400_000;
const KEY = { "idempotency-key": "paid-once-1" };
/** The least that a replay waits if it arrives while the first call is held for twice as long. */
const MET_MS = 300;

for (const store of STORES)
  test(`a replay of a running request waited, one of a stored answer did not, on ${store}`, async () => {
    const gateway = await startGateway({ store });
    try {
      const root = await firstOperator(gateway);
      const customer = await gateway.customer();
      gateway.simulator.behave({ behaviour: { until_well: true } });
      const ask = () => gateway.chat<{ gateway: { request_id: string } }>(customer, hello(), KEY);
      const first = ask();
      await waitFor(async () => gateway.simulator.bill().length === 1, "the first one's call");
      using waiters = watchWaiters();
      const meets = ask();
      await waitFor(async () => waiters.count() === 1, "the replay to wait");
      await Bun.sleep(2 * MET_MS);
      gateway.simulator.behaveWell();
      const [paid] = await Promise.all([first, meets]);
      const askedAt = performance.now();
      await ask();
      const tookMs = performance.now() - askedAt;
      const org = customer.organizationId;
      const request = paid.json.gateway.request_id;
      const { idempotency } = await root.app("GET /orgs/{org}/activity/{request}", { org, request });
      const waits = idempotency?.replays.map(({ waited_ms }) => waited_ms ?? -1) ?? [];
      expect(waits).toHaveLength(2);
      expect(waits[0]).toBeGreaterThan(MET_MS);
      expect(waits[1]).toBeWithin(0, Math.ceil(tookMs) + 2); // whole milliseconds
      expect(idempotency?.content_hash).toBe(
        Buffer.from(fingerprintOf(chatCompletions, hello())).toString("hex"),
      );

      const unkeyed = await gateway.chat<{ gateway: { request_id: string } }>(customer, hello());
      const other = { org, request: unkeyed.json.gateway.request_id };
      const plain = await root.app("GET /orgs/{org}/activity/{request}", other);
      expect(plain.idempotency).toMatchObject({ caller_supplied: false, replays: [], content_hash: null });
    } finally {
      await gateway.stop();
    }
  });

for (const store of STORES)
  test(`whether the answer is stored, and until when: only for a keyed request, as long as its replays get it, on ${store}`, async () => {
    const clock = testClock();
    const gateway = await startGateway({ store, clock });
    try {
      const root = await firstOperator(gateway);
      const customer = await gateway.customer();
      const org = customer.organizationId;
      const detailOf = async (headers: Record<string, string>) => {
        const { json } = await gateway.chat<{ gateway: { request_id: string } }>(customer, hello(), headers);
        return () =>
          root.app("GET /orgs/{org}/activity/{request}", { org, request: json.gateway.request_id });
      };
      const keyed = await detailOf({ "idempotency-key": "kept-for-a-day" });
      const unkeyed = await detailOf({});
      const found = await keyed();
      expect(found).toMatchObject({ content: "answer kept", idempotency: { state: "answer_kept" } });
      expect(Date.parse(found.idempotency?.until ?? "") - clock.nowMs()).toBeWithin(
        DAY_MS - 60_000,
        DAY_MS + 1,
      );
      expect((await unkeyed()).content).toBe("not stored");
      clock.advance(DAY_MS + 1000);
      await signInAgain(root);
      expect(await keyed()).toMatchObject({ content: "not stored", idempotency: { state: "key_taken" } });
    } finally {
      await gateway.stop();
    }
  });
