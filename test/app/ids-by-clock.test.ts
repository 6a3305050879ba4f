// A request's id begins with the gateway's time (with a shared store: the store's), so that lists in the order of ids
// are lists in the order of times, and a time range is a range of ids, whatever the machine's own clock says.
import { expect, test } from "bun:test";
import { timeOfRequest } from "../../src/reporting/request-time.ts";
import { firstOperator } from "../support/browser.ts";
import { testClock } from "../support/clock.ts";
import { hello, startGateway, STORES } from "../support/gateway.ts";

for (const store of STORES)
  test(`requests of a clock that is days off are found in its days, in its order, on ${store}`, async () => {
    const clock = testClock();
    clock.advance(-5 * 86_400_000);
    const gateway = await startGateway({ store, clock });
    try {
      const root = await firstOperator(gateway);
      const customer = await gateway.customer();
      const org = customer.organizationId;
      const times: number[] = [];
      const ids: string[] = [];
      for (const model of ["plain-1", "no-such-model", "plain-1"]) {
        times.push(clock.nowMs());
        const { headers } = await gateway.chat(customer, { ...hello(), model });
        const id = headers.get("x-request-id") ?? "";
        ids.push(id);
        expect(timeOfRequest(id)).toBeWithin(Math.floor(times.at(-1) ?? 0), Math.ceil(clock.nowMs()) + 1);
        clock.advance(3_600_000);
      }
      const list = async (window: Record<string, string>): Promise<string[]> => {
        const query = `?${new URLSearchParams(window).toString()}`;
        return (await root.app("GET /orgs/{org}/activity", { org }, undefined, query)).data.map(
          ({ id }) => id,
        );
      };
      const at = (index: number): string => new Date(times[index] ?? 0).toISOString();
      expect(await list({})).toEqual(ids.toReversed());
      expect(await list({ from: at(0), to: at(1) })).toEqual(ids.slice(0, 1));
      expect(await list({ from: at(1), to: at(2) })).toEqual(ids.slice(1, 2));
      expect(await list({ from: at(2) })).toEqual(ids.slice(2));
    } finally {
      await gateway.stop();
    }
  }, 120_000);
