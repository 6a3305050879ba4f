// Duplicates of running requests, at the gateways of this process.
import { spyOn } from "bun:test";
import { InFlight } from "../../src/gateway/in-flight.ts";

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
