// Actions of people on several pages of the stories, by what they read on the screen.
import type { Locator } from "playwright-core";
import { path } from "../../dashboard/path-builder.ts";
import { activityTexts as activity } from "../../dashboard/pages/activity/texts.ts";
import { keysTexts as keys } from "../../dashboard/pages/keys/texts.ts";
import { pageNames, secretTexts as once, stateTexts, tableTexts } from "../../dashboard/components/texts.ts";
import { signInTexts } from "../../dashboard/pages/sign-in/texts.ts";
import { PASSWORD } from "../support/browser.ts";
import { waitFor } from "../support/wait.ts";
import type { Dashboard, Visitor } from "./dashboard.ts";

/** An organization with five purchased dollars. */
export async function newOrganization({ root }: Dashboard, name: string): Promise<string> {
  const { id: org } = await root.app("POST /operator/organizations", {}, { name });
  const paid = { org, amount_usd: "5", kind: "purchase", reference: `${name}-1`, reason: "agreed by mail" };
  await root.app("POST /operator/credits", {}, paid);
  return org;
}

export interface KeyTerms {
  name: string;
  limit?: string;
  scope?: "standard" | "research";
}

/** Makes a key on the keys page, up to the dialog that shows its secret. */
export async function createKey({ page }: Visitor, terms: KeyTerms): Promise<string> {
  await page.getByRole("button", { name: keys.create, exact: true }).first().click();
  const form = page.getByRole("dialog", { name: keys.create });
  await form.getByLabel(keys.name, { exact: true }).fill(terms.name);
  if (terms.scope !== undefined) await form.getByLabel(keys[terms.scope], { exact: true }).check();
  if (terms.limit !== undefined) await form.getByLabel(keys.limit).fill(terms.limit);
  await form.getByRole("button", { name: keys.create, exact: true }).click();
  const shown = page.getByRole("dialog", { name: once.title });
  return shown.getByText(/^gw_sk_[0-9A-Za-z_-]+$/).innerText();
}

export async function closeSecret({ page }: Visitor): Promise<void> {
  await page.getByLabel(once.stored).check();
  await page.getByRole("button", { name: once.done, exact: true }).click();
  await page.getByRole("dialog", { name: once.title }).waitFor({ state: "hidden" });
}

/** Chooses an action for a key; returns the dialog that it opens. */
export async function keyAct(
  { page }: Visitor,
  name: string,
  act: "edit" | "pause" | "resume" | "replace" | "revoke",
): Promise<Locator> {
  await page.getByRole("button", { name: keys.menu(name), exact: true }).click();
  await page.getByRole("menuitem", { name: keys[act], exact: true }).click();
  return page.getByRole("dialog", { name: keys[`${act}Title`](name) });
}

/** Signs in again, as a refusal asks for: in a new tab beside the page, which is unchanged. */
export async function signInBeside({ page }: Visitor, email: string): Promise<void> {
  const opened = page.context().waitForEvent("page");
  await page.getByRole("link", { name: stateTexts.signInAgainAction }).last().click();
  const tab = await opened;
  await tab.getByLabel(signInTexts.email).fill(email);
  await tab.getByLabel(signInTexts.password, { exact: true }).fill(PASSWORD);
  await tab.getByRole("button", { name: signInTexts.submit, exact: true }).click();
  const { pathname, search } = new URL(page.url());
  await tab.waitForURL((url) => url.pathname + url.search === pathname + search);
  await tab.close();
}

/** Finds a request by its id in Activity; returns its row. */
export async function findRequest(visitor: Visitor, org: string, request: string): Promise<Locator> {
  await visitor.open(path.organization(org, "activity"));
  await visitor.page.getByLabel(activity.find).fill(request);
  await visitor.page.waitForURL(({ searchParams }) => searchParams.get("find") === request); // the search waits for a pause in typing
  const rows = rowsOf(visitor, pageNames.activity);
  await waitFor(async () => (await rows.count()) === 1, "one row");
  return rows.first();
}

/** The rows of the table with this name, without its head. */
export const rowsOf = ({ page }: Visitor, table: string): Locator =>
  page.getByRole("region", { name: table, exact: true }).locator("tbody tr");

/**
 * Shows all columns, and loads pages of a table until there are no more. Finds and clicks the button in one step,
 * because it disappears by itself.
 */
export async function showAll({ page }: Visitor): Promise<void> {
  const turn = `(() => {
    const more = [...document.querySelectorAll("button")].find(
      ({ innerText }) => innerText === "${tableTexts.more}" || /^Show .* more columns?$/.test(innerText));
    more?.click();
    return more !== undefined;
  })()`;
  while (await page.evaluate<boolean>(turn)) await Bun.sleep(50);
}

/** Clicks so often before the page can render what the first click did. */
export const clickQuickly = (button: Locator, times: number): Promise<void> =>
  button.evaluate((element: { click(): void }, left) => {
    for (; left > 0; left -= 1) element.click();
  }, times);

/** The value beside a label of a table of sums. */
export const amountAt = (part: Locator, label: string | RegExp): Promise<string> =>
  part
    .getByRole("row")
    .filter({ has: part.page().getByRole("cell", { name: label }) })
    .getByRole("cell")
    .last()
    .innerText();
