// By how much all books together are off: zero after payments, charges and a debt, and whatever somebody put there by
// hand; the operators' page and the metric agree, on both stores.
import { expect, test } from "bun:test";
import { byItself } from "../../src/domain/actor.ts";
import { nanoUsd } from "../../src/domain/money.ts";
import { hello, startGateway, STORES } from "../support/gateway.ts";
import { scrape } from "../support/scrape.ts";
import { waitFor } from "../support/wait.ts";
import { firstOperator } from "../support/browser.ts";

test.each(STORES)(
  "on %s the books are off by nothing, including a debt, and then by what was put there by hand",
  async (store) => {
    const gateway = await startGateway({ store });
    try {
      const root = await firstOperator(gateway);
      const said = async (): Promise<(string | number | undefined)[]> => {
        await gateway.restart(); // the metric's books are checked when the gateway starts
        let metric: number | undefined;
        await waitFor(async () => {
          const { samples } = await scrape(gateway.url);
          metric = samples.find(({ name }) => name === "tollgate_ledger_drift_usd")?.value;
          return metric !== undefined;
        }, "the books to be looked at");
        return [(await root.app("POST /operator/ledger/audit")).drift_usd, metric];
      };
      const debtor = await gateway.customer({ usd: "0" });
      const { organizationId } = debtor;
      const paid = { organizationId, amount: nanoUsd(5_000_000_000n), source: "test", externalId: "pi_1" };
      await gateway.ledger.topUp({ ...paid, kind: "purchase" }, byItself("test"));
      await gateway.chat(debtor, hello());
      const back = { ...paid, kind: "chargeback", target: "pi_1", externalId: "dp_1" } as const;
      await gateway.ledger.reverse(back, byItself("test"));
      expect((await gateway.balance(debtor)).debt).toBeGreaterThan(0n);
      expect(await said()).toEqual(["0.000000000", 0]);
      await gateway.tamper(
        "UPDATE org_balance SET debt = debt + 2500000000 WHERE org_id = ?1",
        organizationId,
      );
      expect(await said()).toEqual(["2.500000000", 2.5]);
      await gateway.tamper(
        "UPDATE org_balance SET spent = spent + 4000000000 WHERE org_id = ?1",
        organizationId,
      );
      expect(await said()).toEqual(["-1.500000000", -1.5]);
    } finally {
      await gateway.stop();
    }
  },
  120_000,
);
