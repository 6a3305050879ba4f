// Buying credits: ordered on the billing page, paid on the payment service's page, and credited once, however often
// the pages are opened again. People who may not buy cannot.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { path } from "../../../dashboard/path-builder.ts";
import { statementTexts } from "../../../dashboard/pages/billing/statement-texts.ts";
import { billingTexts as words } from "../../../dashboard/pages/billing/texts.ts";
import { dialogTexts } from "../../../dashboard/components/texts.ts";
import { type Browser, newMember } from "../../support/browser.ts";
import { STORES } from "../../support/gateway.ts";
import { clearOfTheTurn, DAY_MS, reads, TURN_PATIENCE_MS } from "../../support/wait.ts";
import { type Dashboard, startDashboard, type Visitor } from "../dashboard.ts";
import { amountOf, exact, nano } from "../figures.ts";
import { newOrganization, rowsOf } from "../steps.ts";

/** The payment service's page is not ours. */
const ELSEWHERE = /^another host/;

describe.each(STORES)("on %s", (store) => {
  let dashboard: Dashboard;
  let org: string;
  let buyer: Browser;
  let developer: Browser;
  let bill: Visitor;
  let paidAt: string;

  beforeAll(async () => {
    await clearOfTheTurn(DAY_MS);
    dashboard = await startDashboard({
      store,
      configure: (config) => {
        config.payments.driver = "test";
      },
    });
    org = await newOrganization(dashboard, "Acme");
    const member = (role: "billing" | "developer"): Promise<Browser> =>
      newMember(dashboard.root, dashboard.gateway, { org, role, email: `${role}@example.com` });
    buyer = await member("billing");
    developer = await member("developer");
    bill = await dashboard.visitor("billing@example.com");
  }, TURN_PATIENCE_MS);
  afterAll(() => dashboard.stop());

  const billing = (): string => path.organization(org, "billing");
  const available = async (): Promise<bigint> =>
    (await dashboard.gateway.ledger.balance(org))?.available ?? -1n;

  /** Time, kind, reference, amount and balance of each row, newest first. */
  const ledger = async (): Promise<string[][]> => {
    const rows = await rowsOf(bill, words.ledger).all();
    const cells = await Promise.all(rows.map((row) => row.getByRole("cell").allInnerTexts()));
    return cells.map(([, ...told]) => told); // without the entry's number
  };

  async function order(usd: string): Promise<void> {
    const { page } = bill;
    await page.getByRole("button", { name: words.add, exact: true }).click();
    const dialog = page.getByRole("dialog", { name: words.add });
    await dialog.getByLabel(words.amount).fill(usd);
    await dialog.getByRole("button", { name: words.pay }).click();
    await page.getByRole("heading", { name: `Test payment of $${usd}` }).waitFor();
    paidAt = page.url();
  }

  test("leaving the payment page without paying credits nothing", async () => {
    await bill.open(billing());
    await order("40.00");
    await bill.page.getByRole("link").click();
    await bill.page.waitForURL((url) => url.pathname === billing());
    await bill.settled();
    expect(await available()).toBe(nano("5"));
    expect(await ledger()).toHaveLength(1);
  });

  test("a paid order raises the balance by exactly its amount, once, however often the page is loaded", async () => {
    const { page } = bill;
    await order("25.50");
    expect(await available()).toBe(nano("5"));
    await page.getByRole("button", { name: "Pay $25.50" }).click();
    await page.waitForURL((url) => url.pathname === billing());
    await page.getByRole("status").getByText(words.arrived("$25.50")).waitFor();
    for (let look = 1; look <= 3; look++) {
      await bill.settled();
      await page.getByText("$30.50").first().waitFor();
      const lines = async () =>
        (await ledger()).map(([, kind, , amount, balance]) => [kind, amount, balance]);
      await reads(lines, [
        [words.kinds.purchase, "$25.50", "$30.50"],
        [words.kinds.purchase, "$5.00", "$5.00"],
      ]);
      expect(await available()).toBe(nano("30.50"));
      await page.reload();
    }
  });

  test("an unconfirmed order is waited for; its confirmation appears without a reload", async () => {
    const { page } = bill;
    await bill.open(billing());
    await order("12.00");
    const unpaid = paidAt;
    const [newest] = (await buyer.app("GET /orgs/{org}/billing/orders", { org })).data;
    const id = newest?.id ?? "";
    await bill.open(`${billing()}?order=${id}`);
    const notice = page.getByRole("status").filter({ hasText: words.waiting("$12.00") });
    await notice.waitFor();
    expect(await bill.axe()).toEqual([]);
    await fetch(unpaid, { method: "POST", body: new URLSearchParams({ do: "pay" }), redirect: "manual" });
    await page.getByRole("status").getByText(words.arrived("$12.00")).waitFor();
    await page.getByText("$42.50").first().waitFor();
    await page.getByRole("button", { name: dialogTexts.close, exact: true }).click();
    await page.waitForURL((url) => !url.search.includes("order"));
    const states = async (): Promise<string[]> => {
      const cells = await rowsOf(bill, words.orders).locator("td:nth-child(3)").allInnerTexts();
      return cells.map((state) => state.trim());
    };
    await reads(states, ["credited", "credited", "open"]);
    await page.getByRole("link", { name: words.payNow }).waitFor();
  });

  test("the ledger of one month and one kind, on the page and as CSV", async () => {
    const { page } = bill;
    const month = new Date().toISOString().slice(0, 7);
    await bill.open(`${billing()}?month=${month}&kind=purchase`);
    expect((await ledger()).length).toBe(3);
    await bill.open(`${billing()}?month=2020-01`);
    expect((await ledger()).length).toBe(0);
    await bill.open(`${billing()}?month=${month}&kind=charge`);
    expect((await ledger()).length).toBe(0);
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: words.csv }).click(),
    ]);
    expect(file.suggestedFilename()).toContain(month);
    await bill.open(`${billing()}?statement=${month}`);
    const sums = page.getByRole("table", { name: statementTexts.sums }).getByRole("row");
    expect(await sums.last().innerText()).toContain("$42.50");
    const [statement] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: statementTexts.pdf }).click(),
    ]);
    expect(statement.suggestedFilename()).toBe(`statement-${org}-${month}.pdf`);
    expect(await bill.axe()).toEqual([]);
  });

  test("the used payment page credits no second time", async () => {
    await bill.page.goto(paidAt);
    await bill.page.getByText("This page was used already.").waitFor();
    await fetch(paidAt, { method: "POST", body: new URLSearchParams({ do: "pay" }), redirect: "manual" });
    expect(await available()).toBe(nano("42.50"));
    const { data } = await dashboard.root.app("GET /operator/payments", {}, undefined, `?org=${org}`);
    expect(data.filter(({ outcome }) => outcome === "credited")).toHaveLength(2);
  });

  test("the running balance of every row is the previous one plus its amount", async () => {
    const { gateway } = dashboard;
    const customer = await gateway.key(org);
    const body = { model: "plain-1", messages: [{ role: "user", content: "Say hello" }] };
    expect((await gateway.chat(customer, body)).status).toBe(200);
    await bill.open(billing());
    await order("10.00");
    await bill.page.getByRole("button", { name: "Pay $10.00" }).click();
    await bill.page.waitForURL((url) => url.pathname === billing());
    await bill.page.getByRole("status").getByText(words.arrived("$10.00")).waitFor();
    // The order is confirmed after the page has loaded, and its rows are refetched then.
    await reads(
      async () => (await ledger()).map(([, kind]) => kind),
      [
        words.kinds.purchase,
        words.kinds.charge,
        words.kinds.purchase,
        words.kinds.purchase,
        words.kinds.purchase,
      ],
    );
    await bill.settled();
    const rows = await ledger();
    let balance = 0n;
    for (const [, , , amount = "", shown = ""] of rows.reverse()) {
      balance += amountOf(amount);
      expect(shown).toBe(exact(balance));
    }
    expect(await available()).toBe(balance);
    await gateway.assertSound();
    expect(bill.complained({ about: ELSEWHERE })).toEqual([]);
  });

  test("a developer has no button, and the server refuses the order; a stranger finds no such organization", async () => {
    const dora = await dashboard.visitor("developer@example.com");
    await dora.open(billing());
    expect(await dora.page.getByRole("button", { name: words.add, exact: true }).count()).toBe(0);
    const before = await available();
    const refused = await developer.try("POST /orgs/{org}/billing/orders", { org }, { amount_usd: "25" });
    expect(refused.status).toBe(403);
    const other = await newOrganization(dashboard, "Other");
    const found = await developer.try(
      "POST /orgs/{org}/billing/orders",
      { org: other },
      { amount_usd: "25" },
    );
    expect(found.status).toBe(404);
    expect(await available()).toBe(before);
    await dora.leave();
  });
});
