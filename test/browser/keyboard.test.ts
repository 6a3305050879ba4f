// The dashboard without a mouse: shortcuts, and a key made and revoked from the sign-in on.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { path } from "../../dashboard/path-builder.ts";
import { texts } from "../../dashboard/texts.ts";
import { type Dashboard, startDashboard, type Visitor } from "./dashboard.ts";
import { furnish, type Furnished } from "./furnish.ts";
import { rowsOf, waitFor } from "./steps.ts";

let dashboard: Dashboard;
let house: Furnished;
let visitor: Visitor;

beforeAll(async () => {
  dashboard = await startDashboard();
  house = await furnish(dashboard);
  visitor = await dashboard.visitor(house.owner);
});
afterAll(() => dashboard.stop());

const press = async (...keys: string[]): Promise<void> => {
  for (const key of keys) await visitor.page.keyboard.press(key);
};
const at = async (page: Parameters<typeof path.organization>[1]): Promise<void> => {
  await visitor.page.waitForURL((url) => url.pathname === path.organization(house.org, page));
  await visitor.settled();
};
const focused = (): Promise<string> => visitor.page.evaluate<string>("document.activeElement.innerText");

test("g and a letter go to a page, / into its search, where letters are letters", async () => {
  await visitor.open(path.organization(house.org));
  for (const [letter, page] of [
    ["u", "usage"],
    ["b", "billing"],
    ["m", "models"],
    ["a", "activity"],
    ["k", "keys"],
  ] as const) {
    await press("g", letter);
    await at(page);
  }
  await press("/");
  await visitor.page.keyboard.type("g/bj?");
  expect(await visitor.page.getByLabel(texts.keys.search).inputValue()).toBe("g/bj?");
  await visitor.page.waitForURL(/search=/);
  expect(new URL(visitor.page.url()).pathname).toBe(path.organization(house.org, "keys"));
  expect(await visitor.page.getByRole("dialog").count()).toBe(0);
});

test("j and k move through the rows, and from request to request in the drawer", async () => {
  await visitor.open(path.organization(house.org, "activity"));
  const rows = rowsOf(visitor, texts.pages.activity);
  const times = await rows.locator("td:first-child").allInnerTexts();
  await press("j", "j", "j", "k");
  expect(await focused()).toBe(times[1] ?? "");
  await press("ArrowDown");
  expect(await focused()).toBe(times[2] ?? "");
  await press("ArrowUp", "Enter");
  const open = (): string => new URL(visitor.page.url()).searchParams.get("req") ?? "";
  await waitFor(async () => open() !== "", "the drawer");
  const second = open();
  for (const key of ["j", "ArrowRight"]) {
    const before = open();
    await press(key);
    await waitFor(async () => open() !== before, `an older request by ${key}`);
  }
  for (const key of ["k", "ArrowLeft"]) {
    const before = open();
    await press(key);
    await waitFor(async () => open() !== before, `a newer request by ${key}`);
  }
  expect(open()).toBe(second);
  await press("Escape");
  await waitFor(async () => open() === "", "the drawer to close");
});

test("? lists the shortcuts, and turns them off for this browser", async () => {
  const { page } = visitor;
  const words = texts.shortcuts;
  await visitor.open(path.organization(house.org));
  await press("?");
  const list = page.getByRole("dialog", { name: words.title });
  await list.getByText(words.goTo(texts.pages.billing)).waitFor();
  expect(await visitor.axe()).toEqual([]);
  await press("g", "k");
  await list.getByLabel(words.on).uncheck();
  await press("Escape");
  await list.waitFor({ state: "hidden" });
  await visitor.open(path.organization(house.org));
  await press("?", "g", "k");
  await page.getByRole("button", { name: texts.shell.account }).click();
  await page.getByRole("menuitem", { name: words.title }).click();
  expect(new URL(page.url()).pathname).toBe(path.organization(house.org));
  await list.getByLabel(words.on).check();
  await press("Escape");
  await list.waitFor({ state: "hidden" });
  await press("g", "k");
  await at("keys");
  expect(visitor.complained()).toEqual([]);
});
