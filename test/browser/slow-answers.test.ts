// While an answer is slow or missing: the previous content is marked as such, and what failed is reported.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { path } from "../../dashboard/path-builder.ts";
import { activityTexts } from "../../dashboard/pages/activity/texts.ts";
import { keysTexts } from "../../dashboard/pages/keys/texts.ts";
import { modelsTexts } from "../../dashboard/pages/models/texts.ts";
import { operatorHomeTexts } from "../../dashboard/pages/operator/home/texts.ts";
import {
  activityStateNames,
  operatorPageNames,
  pageNames,
  stateTexts,
} from "../../dashboard/components/texts.ts";
import { reads } from "../support/wait.ts";
import { type Dashboard, OPERATOR, type Visitor } from "./dashboard.ts";
import { type Seeded, startSeeded } from "./fixture.ts";
import { inspect } from "./inspect.ts";
import { rowsOf } from "./steps.ts";

let dashboard: Dashboard;
let seeded: Seeded;
let visitor: Visitor;
let root: Visitor;

beforeAll(async () => {
  ({ dashboard, seeded, visitor } = await startSeeded());
  root = await dashboard.visitor(OPERATOR);
});
afterAll(() => dashboard.stop());

/** Holds back answers at matching addresses until the returned function is called. */
async function holdBack({ page }: Visitor, address: RegExp): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(address, async (route) => {
    await promise;
    await route.continue();
  });
  return resolve;
}
const isBusy = async (part: Locator): Promise<boolean> =>
  (await part.locator("xpath=ancestor-or-self::*[@aria-busy]").count()) > 0;
/** Includes the opacity of its ancestors. */
const opacityOf = async (part: Locator): Promise<number> => {
  const each = await part
    .locator("xpath=ancestor-or-self::*")
    .evaluateAll((around) =>
      around.map((one) => Number(one.ownerDocument.defaultView?.getComputedStyle(one).opacity)),
    );
  return each.reduce((product, opacity) => product * opacity, 1);
};

const LISTS = [
  {
    page: pageNames.activity,
    who: () => visitor,
    address: () => path.organization(seeded.org, "activity"),
    held: /\/activity\?/,
    narrow: async ({ page }: Visitor) => {
      await page.getByRole("combobox", { name: activityTexts.state, exact: true }).click();
      await page.getByRole("option", { name: activityStateNames.refused }).click();
    },
  },
  {
    page: pageNames.keys,
    who: () => visitor,
    address: () => path.organization(seeded.org, "keys"),
    held: /\/keys\?/,
    narrow: ({ page }: Visitor) => page.getByLabel(keysTexts.search).fill("Night"),
  },
  {
    page: operatorPageNames.requests,
    who: () => root,
    address: () => path.operator("requests"),
    held: /\/operator\/requests\?/,
    narrow: async ({ page }: Visitor) => {
      await page.getByRole("combobox", { name: activityTexts.state, exact: true }).click();
      await page.getByRole("option", { name: activityStateNames.refused }).click();
    },
  },
];

for (const { page: name, who, address, held, narrow } of LISTS)
  test(`${name}: rows of the previous filter are dimmed, busy, and announced, until the new ones arrive`, async () => {
    const person = who();
    await person.open(address());
    const rows = rowsOf(person, name);
    await rows.first().waitFor();
    expect([await isBusy(rows.first()), await opacityOf(rows.first())]).toEqual([false, 1]);
    const goOn = await holdBack(person, held);
    await narrow(person);
    const word = person.page.getByRole("status").getByText(stateTexts.former, { exact: true });
    await word.waitFor();
    expect(await isBusy(rows.first())).toBe(true);
    expect(await opacityOf(rows.first())).toBeLessThan(0.7);
    goOn();
    await word.waitFor({ state: "detached" });
    expect([await isBusy(rows.first()), await opacityOf(rows.first())]).toEqual([false, 1]);
    expect(person.complained()).toEqual([]);
  }, 120_000);

test("the price of the previous input is marked as such", async () => {
  const { page } = visitor;
  await visitor.open(path.organization(seeded.org, "models"));
  const result = page.getByRole("status").filter({ hasText: modelsTexts.result });
  await result.waitFor();
  const goOn = await holdBack(visitor, /\/models\/estimate\?/);
  await page.getByLabel(modelsTexts.input, { exact: true }).fill("500000");
  await reads(() => isBusy(result), true);
  expect(await opacityOf(result)).toBeLessThan(0.7);
  goOn();
  await reads(() => isBusy(result), false);
}, 120_000);

const FAILED = {
  status: 500,
  contentType: "application/json",
  body: JSON.stringify({ error: { code: "internal_error", message: "No.", request_id: "req_1" } }),
};

test("unreadable figures of the operators' home are named, and appear after a retry", async () => {
  const { page } = root;
  await page.route(/\/operator\/(home\/(traffic|margin)|health)(\?|$)/, (route) => route.fulfill(FAILED));
  await root.open(path.operator("home"));
  for (const what of [
    operatorHomeTexts.parts.traffic,
    operatorHomeTexts.parts.margin,
    operatorHomeTexts.parts.health,
  ]) {
    const failed = page.getByRole("alert").filter({ hasText: stateTexts.unread(what) });
    await failed.waitFor();
    expect(await failed.getByRole("button", { name: stateTexts.retry }).count()).toBe(1);
  }
  expect(await page.locator(".mantine-Skeleton-root").count()).toBe(0);
  await inspect(root, "figures that cannot be read", { about: /status of 500/ });
  await page.unrouteAll();
  for (const part of Object.values(operatorHomeTexts.parts))
    await page
      .getByRole("alert")
      .filter({ hasText: stateTexts.unread(part) })
      .getByRole("button", { name: stateTexts.retry })
      .click();
  await page.getByText(operatorHomeTexts.ready, { exact: true }).waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
}, 120_000);

test("an unreadable chart above the rows of Activity is reported", async () => {
  const { page } = visitor;
  visitor.complained();
  await page.route(/\/activity\/histogram/, (route) => route.fulfill(FAILED));
  await visitor.open(path.organization(seeded.org, "activity"));
  const alert = page.getByRole("alert").filter({ hasText: "internal_error" });
  await alert.waitFor();
  expect(await rowsOf(visitor, pageNames.activity).count()).toBeGreaterThan(0);
  await page.unrouteAll();
  await alert.getByRole("button", { name: stateTexts.retry }).click();
  await page.getByRole("heading", { name: new RegExp(`^${activityTexts.histogram}`) }).waitFor();
  visitor.complained();
}, 120_000);

test("nothing moves for whoever asks for less motion, however long an answer takes", async () => {
  const { page } = visitor;
  const goOn = await holdBack(visitor, /\/app\/v1\/.*\/keys(\?|$)/);
  await page.goto(dashboard.gateway.url + path.organization(seeded.org, "keys"));
  const moving = (): Promise<unknown> =>
    page.evaluate(`({
      waits: document.querySelector(".mantine-Skeleton-root") !== null,
      moving: document.getAnimations().filter(({ playState }) => playState === "running").length,
    })`);
  await reads(moving, { waits: true, moving: 0 });
  goOn();
  await rowsOf(visitor, pageNames.keys).first().waitFor();
  await page.unrouteAll();
}, 120_000);
