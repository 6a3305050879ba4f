// A rule that is edited or removed while a round is evaluating it, on both stores.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Figures } from "../../src/alerts/readings.ts";
import { watchRules } from "../../src/alerts/watch.ts";
import { NEWEST } from "../../src/store/page.ts";
import { below } from "../support/alert-rules.ts";
import { startGateway, STORES, type TestGateway } from "../support/gateway.ts";

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ store });
  });
  afterAll(() => gateway.stop());

  /** Starts a round, runs `meanwhile` after it has read the balance, then lets it continue. */
  function round(org: string, meanwhile: () => Promise<unknown> = async () => null): Promise<void> {
    const { rules, crossings, outbox } = gateway.alerts;
    const balance = async (): Promise<unknown> => {
      const found = await gateway.ledger.balance(org);
      await meanwhile();
      return found;
    };
    const figures = { nowMs: Date.now, balance } as unknown as Figures;
    return watchRules({ rules, crossings, outbox, look: () => () => figures, nowMs: Date.now }, (error) => {
      throw error;
    });
  }
  const told = async (org: string): Promise<number> =>
    (await gateway.alerts.outbox.page(org, NEWEST, { limit: 100 })).rows.length;

  test.each(["switched off", "removed"])("one that is %s tells nothing, and leaves nothing", async (how) => {
    const org = (await gateway.customer({ usd: "4" })).organizationId;
    const { rules, crossings } = gateway.alerts;
    const { id } = await rules.add(org, below(5), Date.now());
    await round(org, () =>
      how === "removed"
        ? rules.remove(org, id)
        : rules.change(org, id, { from: below(5), to: below(5, false) }),
    );
    expect([await told(org), (await crossings.firing([org])).get(id)]).toEqual([0, undefined]);
    await rules.remove(org, id);
  });

  test("an alert that another gateway sent under new terms is neither cleared under the old ones nor sent again", async () => {
    const org = (await gateway.customer({ usd: "50" })).organizationId;
    const { rules } = gateway.alerts;
    const { id } = await rules.add(org, below(100), Date.now());
    await round(org);
    expect(await told(org)).toBe(1);
    expect(await rules.change(org, id, { from: below(100), to: below(10) })).not.toBeNull();
    await round(org, async () => {
      await rules.change(org, id, { from: below(10), to: below(100) });
      await round(org);
    });
    await round(org);
    expect(await told(org)).toBe(2);
    await rules.remove(org, id);
  });
});
