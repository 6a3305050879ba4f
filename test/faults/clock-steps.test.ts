// A clock that is set while running, as on a machine that learns the time late: requests end by the monotonic clock,
// so that none is taken from the gateway that runs it (money.md §2, case 39), and a past month's figures do not
// change.
import { expect, test } from "bun:test";
import { firstOperator } from "../support/browser.ts";
import { createLog } from "../../src/lib/log.ts";
import { testClock } from "../support/clock.ts";
import { hello, startGateway, STORES } from "../support/gateway.ts";
import { DAY_MS, waitFor } from "../support/wait.ts";
import { watchWaiters } from "../support/waiters.ts";

/** How long a call is delayed. */
const STANDS_MS = 300;
const body = { ...hello("uncounted-1"), max_tokens: 20 };

for (const store of STORES)
  test(`a clock that is put forward by a day ends no running request, on ${store}`, async () => {
    const clock = testClock();
    const gateway = await startGateway({ store, clock });
    const sweptAtMs = (): number => gateway.ledger.pulse().sweptAtMs ?? 0;
    try {
      const customer = await gateway.customer();
      gateway.simulator.behave({ behaviour: { until_well: true } });
      const key = { "idempotency-key": "put-forward-1" };
      const running = [
        gateway.chat(customer, body),
        gateway.chat(customer, body, key),
        gateway.stream(customer, body),
      ];
      await waitFor(async () => gateway.simulator.bill().length === running.length, "the calls");
      clock.advance(DAY_MS);
      const forwardMs = clock.nowMs();
      await waitFor(async () => sweptAtMs() >= forwardMs, "the upkeep behind the step");
      gateway.simulator.behaveWell();
      const replies = await Promise.all(running);

      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(replies[2]?.text).toEndWith("data: [DONE]\n\n");
      const records = await Promise.all(
        gateway.simulator.bill().map(({ request_id: id }) => gateway.request(id ?? "none")),
      );
      expect(records.map(({ state, evidence }) => `${state} ${evidence}`)).toEqual(
        records.map(() => "settled provider_usage"),
      );
      const again = await gateway.chat(customer, body, key);
      expect([again.status, again.text]).toEqual([200, replies[1]?.text ?? ""]);
      await gateway.assertSound();
    } finally {
      await gateway.stop();
    }
  }, 120_000);

test.each([-DAY_MS, DAY_MS])(
  "the times of a call and of a replay's wait do not depend on clock changes (%d ms)",
  async (stepMs) => {
    const clock = testClock();
    const lines: string[] = [];
    const log = createLog("info", { write: (line) => void lines.push(line) });
    const gateway = await startGateway({ store: "sqlite", clock, log });
    try {
      const root = await firstOperator(gateway);
      const customer = await gateway.customer();
      gateway.simulator.behave({ behaviour: { until_well: true } });
      const key = { "idempotency-key": "set-meanwhile-1" };
      const first = gateway.chat<{ gateway: { request_id: string } }>(customer, body, key);
      await waitFor(async () => gateway.simulator.bill().length === 1, "the call");
      using waiters = watchWaiters();
      const repeat = gateway.chat(customer, body, key);
      await waitFor(async () => waiters.count() === 1, "the repeat to wait");
      await Bun.sleep(STANDS_MS);
      clock.advance(stepMs);
      gateway.simulator.behaveWell();
      const [paid, again] = await Promise.all([first, repeat]);
      expect([paid.status, again.text]).toEqual([200, paid.text]);
      const at = { org: customer.organizationId, request: paid.json.gateway.request_id };
      const { idempotency } = await root.app("GET /orgs/{org}/activity/{request}", at);
      const told = await fetch(`${gateway.baseUrl}/generation?id=${at.request}`, {
        headers: { authorization: `Bearer ${customer.secret}` },
      });
      const generation = (await told.json()) as { attempts: { ms: number }[] };
      const lineOf = () =>
        lines
          .join("")
          .split("\n")
          .find((one) => one.includes(`"id":"${at.request}"`));
      await waitFor(async () => lineOf() !== undefined, "its line in the log");
      const took = [
        generation.attempts[0]?.ms,
        idempotency?.replays[0]?.waited_ms,
        (JSON.parse(lineOf() ?? "{}") as { ms?: number }).ms,
      ];
      for (const ms of took) expect(ms).toBeWithin(STANDS_MS - 50, DAY_MS / 24);
    } finally {
      await gateway.stop();
    }
  },
);

test("a past month keeps its statement, though a clock once went over its end and back", async () => {
  const clock = testClock();
  clock.set("2031-01-31T12:00:00Z");
  const gateway = await startGateway({ store: "sqlite", clock });
  try {
    const customer = await gateway.customer();
    const spend = async (times: number): Promise<void> => {
      for (let time = 0; time < times; time++)
        expect((await gateway.chat(customer, hello("uncounted-1"))).status).toBe(200);
    };
    const january = async (): Promise<object> => {
      const path = `/statement?org=${customer.organizationId}&month=2031-01`;
      const { made_at: _, ...stated } = (await gateway.admin("GET", path)).json;
      return stated;
    };
    await spend(3);
    clock.advance(2 * DAY_MS);
    await spend(4);
    clock.advance(-2 * DAY_MS);
    await spend(5);
    clock.set("2031-02-03T00:00:00Z");
    const stated = await january();
    for (const times of [1, 7, 20]) {
      await spend(times);
      expect(await january()).toEqual(stated);
    }
  } finally {
    await gateway.stop();
  }
});
