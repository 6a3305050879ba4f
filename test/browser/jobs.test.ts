// The ten most common jobs, each done from another page with no more clicks than docs/design/dashboard.md §12 says,
// and no more than three; typed input is sent with Enter.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { type OrganizationPage, path } from "../../dashboard/path-builder.ts";
import { pageNames, rangeChoiceTexts, secretTexts, shellTexts } from "../../dashboard/components/texts.ts";
import { activityTexts } from "../../dashboard/pages/activity/texts.ts";
import { statementTexts } from "../../dashboard/pages/billing/statement-texts.ts";
import { billingTexts } from "../../dashboard/pages/billing/texts.ts";
import { keysTexts as keys } from "../../dashboard/pages/keys/texts.ts";
import { modelsTexts } from "../../dashboard/pages/models/texts.ts";
import { overviewTexts } from "../../dashboard/pages/overview/texts.ts";
import { reads, waitFor } from "../support/wait.ts";
import { type Dashboard, type Visitor } from "./dashboard.ts";
import { type Seeded, startSeeded } from "./fixture.ts";
import { closeSecret, rowsOf } from "./steps.ts";

const MOST = 3;
const PAPER = readFileSync(join(import.meta.dir, "../../docs/design/dashboard.md"), "utf8");
/** The number of clicks stated in the paper, by its name of the job. */
const TOLD = new Map(
  [...PAPER.slice(PAPER.indexOf("\n## 12.")).matchAll(/^\| ([^|]+) \| [^|]+ \| (\d)[^|]* \|/gm)].map(
    ([, job = "", now]) => [job, Number(now)],
  ),
);

let dashboard: Dashboard;
let seeded: Seeded;
let visitor: Visitor;

beforeAll(async () => {
  ({ dashboard, seeded, visitor } = await startSeeded());
  await visitor.open(path.organization(seeded.org, "settings"));
});
afterAll(() => dashboard.stop());

let clicks = 0;
async function click(what: Locator): Promise<void> {
  clicks += 1;
  await what.click();
}
const at = (page: OrganizationPage): Promise<void> =>
  click(
    visitor.page
      .getByRole("navigation", { name: shellTexts.main })
      .getByRole("link", { name: pageNames[page], exact: true }),
  );
const button = (name: string): Locator => visitor.page.getByRole("button", { name, exact: true });
const opened = (name: string | RegExp): Locator => visitor.page.getByRole("dialog", { name });
async function type(field: Locator, text: string): Promise<void> {
  await field.fill(text);
  await field.press("Enter");
}
const key = async (name: string) => {
  const { data } = await dashboard.root.app("GET /orgs/{org}/keys", { org: seeded.org });
  return data.find((one) => one.name === name);
};
const nightly = (): Locator =>
  rowsOf(visitor, pageNames.keys).getByRole("link", { name: "Nightly batch", exact: true });

const JOBS: Record<string, () => Promise<void>> = {
  "what this request cost, and why": async () => {
    const { data } = await dashboard.root.app("GET /orgs/{org}/activity", { org: seeded.org });
    const id = data.find(({ state }) => state === "settled")?.id ?? "";
    await at("activity");
    await type(visitor.page.getByLabel(activityTexts.find), id);
    const rows = rowsOf(visitor, pageNames.activity);
    await waitFor(async () => (await rows.count()) === 1, "the request");
    await click(rows.getByRole("link").first());
    await visitor.page.getByRole("dialog").getByRole("region", { name: activityTexts.cost }).waitFor();
  },
  "which model is the cheapest to ask": async () => {
    await at("models");
    const output = visitor.page.getByRole("button", { name: modelsTexts.prices.output });
    await click(output);
    await click(output);
    await visitor.page.waitForURL(({ searchParams }) => searchParams.get("sort") === "output-1-m");
  },
  "which model answers soonest, and how often it fails": async () => {
    await at("models");
    await click(visitor.page.getByRole("button", { name: modelsTexts.firstToken }));
    await visitor.page.waitForURL(/sort=-?first-token/);
    await visitor.page.getByRole("columnheader", { name: modelsTexts.uptime }).waitFor();
  },
  "what was spent this week, by model": async () => {
    await at("overview");
    await click(visitor.page.getByText(rangeChoiceTexts.ranges["7d"], { exact: true }));
    await visitor.page.waitForURL(/range=7d/);
    await visitor.page.getByRole("img", { name: new RegExp(overviewTexts.spendByModel) }).waitFor();
  },
  "why requests are refused today": async () => {
    await at("overview");
    await click(visitor.page.locator("a.tile").filter({ hasText: overviewTexts.refused }));
    await click(rowsOf(visitor, pageNames.activity).getByRole("link").first());
    await visitor.page.getByRole("dialog").getByText("integer_below_min_value").first().waitFor();
  },
  "make a key": async () => {
    await at("keys");
    await click(button(keys.create));
    await type(opened(keys.create).getByLabel(keys.name, { exact: true }), "Made in two");
    await opened(secretTexts.title)
      .getByText(/^gw_sk_/)
      .first()
      .waitFor();
  },
  "give a key more": async () => {
    await at("keys");
    await click(nightly());
    await click(button(keys.edit));
    await type(opened(keys.editTitle("Nightly batch")).getByLabel(keys.limit), "7");
    await reads(async () => (await key("Nightly batch"))?.limit_usd, "7.000000000");
  },
  "end a key that leaked": async () => {
    await at("keys");
    await click(nightly());
    await click(button(keys.revoke));
    await type(opened(keys.revokeTitle("Nightly batch")).getByRole("textbox"), "Nightly batch");
    await reads(async () => (await key("Nightly batch"))?.status, "revoked");
  },
  "add credits": async () => {
    await at("billing");
    await click(button(billingTexts.add));
    await visitor.page.getByRole("dialog").getByLabel(billingTexts.amount).fill("20");
    await button(billingTexts.order).or(button(billingTexts.pay)).waitFor();
  },
  "the month's statement for the books": async () => {
    await at("billing");
    const taken = visitor.page.waitForEvent("download");
    await click(visitor.page.getByRole("link", { name: statementTexts.pdf, exact: true }));
    expect((await taken).suggestedFilename()).toMatch(/\.pdf$/);
  },
};

test("the paper tells of these ten", () => {
  expect([...TOLD.keys()]).toEqual(Object.keys(JOBS));
  expect(Math.max(...TOLD.values())).toBe(MOST);
});

test.each(Object.entries(JOBS))("%s", async (job, done) => {
  await visitor.go(path.organization(seeded.org, "settings"), pageNames.settings);
  clicks = 0;
  await done();
  expect(clicks).toBe(TOLD.get(job) ?? 0);
  const { page } = visitor;
  if (await opened(secretTexts.title).isVisible()) await closeSecret(visitor);
  else await page.keyboard.press("Escape");
  expect(visitor.complained()).toEqual([]);
});
