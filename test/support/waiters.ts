// Duplicates of running requests, at the gateways of this process.
import { spyOn } from "bun:test";
import { InFlight } from "../../src/gateway/in-flight.ts";
import type { Customer, TestGateway } from "./gateway.ts";
import { waitFor } from "./wait.ts";

export interface Waiters extends Disposable {
  /** The duplicates that have begun to wait for a running request since this was made. */
  count(): number;
}

/** Watches for duplicates that wait: the only sign that one has arrived before its answer. */
export function watchWaiters(): Waiters {
  const joins = spyOn(InFlight.prototype, "join");
  return {
    count: () => joins.mock.results.filter(({ value }) => value !== null).length,
    [Symbol.dispose]: () => joins.mockRestore(),
  };
}

/** Asks twice, the second time while the first is known to run at the simulator, which then goes on. */
export async function askedTwice(
  gateway: TestGateway,
  customer: Customer,
  ask: () => Promise<Response>,
): Promise<[Response, Response]> {
  gateway.simulator.behave({
    behaviour: { until_well: true, tokens_per_second: 100, completion_tokens: 50 },
    calls: 1,
  });
  const first = ask();
  await waitFor(async () => (await gateway.balance(customer)).held !== 0n, "its hold");
  using waiters = watchWaiters();
  const second = ask();
  await waitFor(async () => waiters.count() === 1, "the retry to wait");
  gateway.simulator.behaveWell();
  return await Promise.all([first, second]);
}
