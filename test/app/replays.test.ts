// What the record of a paid request tells of its repeats: how long each waited, at no charge, and the hash that a repeat
// has to match.
import { expect, test } from "bun:test";
import { chatCompletions } from "../../src/gateway/formats/chat-completions/chat-completions.ts";
import { fingerprintOf } from "../../src/gateway/idempotency.ts";
import { firstOperator } from "../support/browser.ts";
import { hello, startGateway, STORES } from "../support/gateway.ts";
import { waitFor } from "../support/wait.ts";

const KEY = { "idempotency-key": "paid-once-1" };
/** The least that a repeat waits that arrives while the first one's call stands still for twice as long. */
const MET_MS = 300;

for (const store of STORES)
  test(`a repeat that met the running request waited, one that met its kept answer did not, on ${store}`, async () => {
    const gateway = await startGateway({ store });
    try {
      const root = await firstOperator(gateway);
      const customer = await gateway.customer();
      gateway.simulator.behave({ behaviour: { until_well: true } });
      const ask = () => gateway.chat<{ gateway: { request_id: string } }>(customer, hello(), KEY);
      const first = ask();
      await waitFor(async () => gateway.simulator.bill().length === 1, "the first one's call");
      const meets = ask();
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
