// The dashboard without a mouse: shortcuts, and making and revoking a key, starting at the sign-in.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type OrganizationPage, path } from "../../dashboard/path-builder.ts";
import {
  dialogTexts,
  pageNames,
  secretTexts as secret,
  shellTexts,
  shortcutTexts,
} from "../../dashboard/components/texts.ts";
import { paletteTexts } from "../../dashboard/palette/texts.ts";
import { keysTexts as keys } from "../../dashboard/pages/keys/texts.ts";
import { signInTexts } from "../../dashboard/pages/sign-in/texts.ts";
import { PASSWORD } from "../support/browser.ts";
import { waitFor } from "../support/wait.ts";
import { type Dashboard, type Visitor } from "./dashboard.ts";
import { type Seeded, startSeeded } from "./fixture.ts";
import { rowsOf } from "./steps.ts";

let dashboard: Dashboard;
let seeded: Seeded;
let visitor: Visitor;

beforeAll(async () => {
  ({ dashboard, seeded, visitor } = await startSeeded());
});
afterAll(() => dashboard.stop());

const press = async (...keys: string[]): Promise<void> => {
  for (const key of keys) await visitor.page.keyboard.press(key);
};
/** Without waiting for what the page makes of the first one. */
const inQuickSuccession = async (...keys: string[]): Promise<void> => {
  await Promise.all(keys.map((key) => visitor.page.keyboard.press(key)));
};
const at = async (page: OrganizationPage): Promise<void> => {
  await visitor.page.waitForURL((url) => url.pathname === path.organization(seeded.org, page));
  await visitor.arrived(pageNames[page]);
};
const focused = (): Promise<string> => visitor.page.evaluate<string>("document.activeElement.innerText");

test("g and a letter go to a page, / into its search, where letters are letters", async () => {
  await visitor.open(path.organization(seeded.org));
  for (const [letter, page] of [
    ["u", "usage"],
    ["b", "billing"],
    ["m", "models"],
    ["a", "activity"],
    ["k", "keys"],
  ] as const) {
    await inQuickSuccession("g", letter);
    await at(page);
  }
  // The page may be busy for longer than a person waits between two keys.
  await visitor.page.evaluate<void>(`addEventListener("keydown", ({ key }) => {
    for (const until = performance.now() + 2500; key === "g" && performance.now() < until; );
  }, { once: true })`);
  await inQuickSuccession("g", "b");
  await at("billing");
  await inQuickSuccession("g", "k");
  await at("keys");
  await press("/");
  await visitor.page.keyboard.type("g/bj?");
  expect(await visitor.page.getByLabel(keys.search).inputValue()).toBe("g/bj?");
  await visitor.page.waitForURL(/search=/);
  expect(new URL(visitor.page.url()).pathname).toBe(path.organization(seeded.org, "keys"));
  expect(await visitor.page.getByRole("dialog").count()).toBe(0);
});

test("Ctrl-K finds a page and a key, by the keyboard alone; a pasted secret stays here; the focus goes back", async () => {
  const { page } = visitor;
  await visitor.open(path.organization(seeded.org, "usage"));
  const link = page.getByRole("link", { name: pageNames.models });
  await link.focus();
  await press("Control+k");
  const field = page.getByRole("combobox", { name: paletteTexts.title });
  await field.waitFor();
  const chosen = async (): Promise<string> => {
    const id = await field.getAttribute("aria-activedescendant");
    return await page.locator(`[id="${id}"][aria-selected="true"]`).innerText();
  };
  const inField = () => page.evaluate<boolean>("document.activeElement.getAttribute('role') === 'combobox'");
  await waitFor(inField, "the focus");
  expect(await visitor.axe()).toEqual([]);
  const first = await chosen();
  await press("ArrowDown");
  expect(await chosen()).not.toBe(first);
  await press("ArrowUp", "ArrowUp");
  await press("Home");
  expect(await chosen()).toBe(first);
  await press("Escape");
  await field.waitFor({ state: "hidden" });
  await waitFor(async () => (await focused()) === pageNames.models, "the focus back on the link");

  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await press("Control+k");
  const secret = `gw_sk_${"A".repeat(24)}SECRETSECRETSECRET`;
  await field.fill(secret);
  await waitFor(async () => asked.some((url) => url.includes("/search?")), "the search");
  await page.getByText(paletteTexts.nothing).waitFor();
  expect(asked.filter((url) => url.includes("SECRET"))).toEqual([]);
  await field.fill("billi");
  await waitFor(async () => (await chosen()).includes(pageNames.billing), "the page");
  await press("Enter");
  await at("billing");
  const [key] = (await dashboard.root.app("GET /orgs/{org}/keys", { org: seeded.org })).data;
  await press("Control+k");
  await field.fill(key?.id ?? "");
  await page.getByRole("option", { name: key?.name ?? "" }).waitFor();
  await press("Enter");
  await page.waitForURL(({ pathname }) => pathname === path.key(seeded.org, key?.id ?? ""));
  await visitor.arrived(key?.name ?? "");
});

test("j and k move through the rows, and from request to request in the drawer", async () => {
  await visitor.open(path.organization(seeded.org, "activity"));
  const rows = rowsOf(visitor, pageNames.activity);
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
  const words = shortcutTexts;
  await visitor.open(path.organization(seeded.org));
  await press("?");
  const list = page.getByRole("dialog", { name: words.title });
  await list.getByText(words.goTo(pageNames.billing)).waitFor();
  expect(await visitor.axe()).toEqual([]);
  await press("g", "k");
  await list.getByLabel(words.on).uncheck();
  await press("Escape");
  await list.waitFor({ state: "hidden" });
  await visitor.open(path.organization(seeded.org));
  await press("?", "g", "k");
  await page.getByRole("button", { name: shellTexts.account }).click();
  await page.getByRole("menuitem", { name: words.title }).click();
  expect(new URL(page.url()).pathname).toBe(path.organization(seeded.org));
  await list.getByLabel(words.on).check();
  await press("Escape");
  await list.waitFor({ state: "hidden" });
  await press("g", "k");
  await at("keys");
  expect(visitor.complained()).toEqual([]);
});

test("a key is made and revoked without a mouse, from the sign-in on", async () => {
  const person = await dashboard.visitor();
  const { page } = person;
  const press = (key: string): Promise<void> => page.keyboard.press(key);
  /** Presses Tab until the focused element has this name. */
  const tabTo = async (name: string | RegExp): Promise<void> => {
    for (let presses = 0; presses < 60; presses++) {
      if (await isCalled(person, name)) return;
      await press("Tab");
    }
    throw new Error(`Tab does not lead to ${name}`);
  };
  await person.open(path.signIn());
  await tabTo(signInTexts.email);
  await page.keyboard.type(seeded.owner);
  await tabTo(signInTexts.password);
  await page.keyboard.type(PASSWORD);
  await press("Enter");
  await person.arrived(pageNames.overview);
  await tabTo(pageNames.keys);
  await press("Enter");
  await person.arrived(pageNames.keys);
  await tabTo(keys.create);
  await press("Enter");
  await page.getByRole("dialog", { name: keys.create }).waitFor();
  await tabTo(keys.name);
  await page.keyboard.type("By hand");
  await press("Enter");
  await page.getByRole("dialog", { name: secret.title }).waitFor();
  await tabTo(secret.stored);
  await press("Space");
  await tabTo(secret.done);
  await press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await waitFor(() => isCalled(person, keys.create), "the focus to come back to where the form was opened");
  await tabTo(keys.menu("By hand"));
  await press("Enter");
  await page.getByRole("menuitem", { name: keys.revoke }).waitFor();
  await waitFor(async () => {
    if (await isCalled(person, keys.revoke)) return true;
    await press("ArrowDown");
    return false;
  }, "the entry of the menu");
  await press("Enter");
  const question = page.getByRole("dialog", { name: keys.revokeTitle("By hand") });
  await question.waitFor();
  await waitFor(() => isCalled(person, dialogTexts.cancel), "the focus on Cancel");
  await press("Shift+Tab");
  await page.keyboard.type("By hand");
  await press("Enter");
  await question.waitFor({ state: "detached" });
  await waitFor(async () => {
    const { data } = await dashboard.root.app("GET /orgs/{org}/keys", { org: seeded.org });
    return data.find(({ name }) => name === "By hand")?.status === "revoked";
  }, "the key to be revoked");
  expect(person.complained()).toEqual([]);
  await person.leave();
}, 120_000);

/** True if this is the accessible name of the focused element. */
async function isCalled({ page }: Visitor, name: string | RegExp): Promise<boolean> {
  const called = await page.evaluate<string>(`(() => {
    const one = document.activeElement;
    if (!one.matches("a, button, input")) return "";
    const label = one.labels?.[0]?.innerText ?? one.getAttribute("aria-label") ?? one.innerText ?? "";
    return label.trim();
  })()`);
  return typeof name === "string" ? called === name : name.test(called);
}
