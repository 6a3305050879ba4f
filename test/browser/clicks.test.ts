// A click renders what it asked for and nothing else: existing charts and rows are left alone, so that the response
// does not wait for them (docs/design/dashboard.md §13).
import { afterAll, beforeAll, expect, test } from "bun:test";
import { pageNames, rangeNames } from "../../dashboard/components/texts.ts";
import { type OrganizationPage, path } from "../../dashboard/path-builder.ts";
import { type Dashboard, type Visitor } from "./dashboard.ts";
import { DRAWN, drawnWhile } from "./drawn.ts";
import { type Seeded, startSeeded } from "./fixture.ts";

let dashboard: Dashboard;
let seeded: Seeded;
let visitor: Visitor;

beforeAll(async () => {
  ({ dashboard, seeded, visitor } = await startSeeded());
  await visitor.page.addInitScript(DRAWN);
});
afterAll(() => dashboard.stop());

const NOTHING = { chart: 0, rows: 0 };
const open = (page: OrganizationPage, query = ""): Promise<boolean> =>
  visitor.open(`${path.organization(seeded.org, page)}${query}`);

test("the test detects rendering: another range renders the chart again", async () => {
  await open("usage", "?range=24h");
  await visitor.page.locator(".chart svg").first().waitFor();
  const drawn = await drawnWhile(visitor.page, async () => {
    await visitor.page.evaluate<void>(`history.pushState(null, "", location.pathname + "?range=7d")`);
    await visitor.page.getByText(rangeNames["7d"]).first().waitFor();
    await visitor.settled();
  });
  expect(drawn.chart).toBeGreaterThan(0);
});

for (const [from, to] of [
  ["overview", "usage"],
  ["usage", "activity"],
] as const)
  test(`${pageNames[from]}: navigating to ${pageNames[to]} renders nothing of the old page again`, async () => {
    await open(from, "?range=24h");
    await visitor.page.locator(".chart svg").first().waitFor();
    const drawn = await drawnWhile(visitor.page, async () => {
      await visitor.page.locator("main tbody tr a").first().click();
      await visitor.arrived(pageNames[to]);
    });
    expect(drawn).toEqual(NOTHING);
  });

/** The link of the row that opened marks itself as current. */
const ONE_LINK = 12;

test("Billing: the drawer of an entry draws no other row of the ledger", async () => {
  await open("billing");
  const drawn = await drawnWhile(visitor.page, async () => {
    await visitor.page.locator("main tbody tr a").first().click();
    await visitor.page.getByRole("dialog").locator("tbody").first().waitFor();
  });
  expect(drawn.rows).toBeLessThan(ONE_LINK);
});

test("Usage: a chart whose bars are the same is not rendered again", async () => {
  await open("usage", "?range=24h");
  await visitor.page.locator(".chart svg").first().waitFor();
  const drawn = await drawnWhile(visitor.page, async () => {
    await visitor.page
      .getByRole("main")
      .getByRole("button", { name: /Charge|Spend/ })
      .first()
      .click();
    await visitor.page.waitForURL(/sort=/);
  });
  expect(drawn.chart).toBe(0);
});
