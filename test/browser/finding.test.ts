// Finding things: keys by maker and after a replacement, models by capability, audit lines by person and action; for
// operators, requests of all organizations.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { path } from "../../dashboard/path-builder.ts";
import { auditTexts } from "../../dashboard/pages/audit/texts.ts";
import { keysTexts as words } from "../../dashboard/pages/keys/texts.ts";
import { activityTexts } from "../../dashboard/pages/activity/texts.ts";
import { modelsTexts } from "../../dashboard/pages/models/texts.ts";
import {
  activityStateNames,
  operatorPageNames,
  pageNames,
  secretTexts,
  shellTexts,
  tableTexts,
} from "../../dashboard/components/texts.ts";
import { operatorRequestsTexts } from "../../dashboard/pages/operator/requests/texts.ts";
import { paletteTexts } from "../../dashboard/palette/texts.ts";
import { researchTexts } from "../../dashboard/pages/research/texts.ts";
import { teamTexts } from "../../dashboard/pages/team/texts.ts";
import { PLAIN, RESEARCH } from "../support/models.ts";
import { waitFor } from "../support/wait.ts";
import { type Dashboard, OPERATOR, type Visitor } from "./dashboard.ts";
import { type Seeded, startSeeded } from "./fixture.ts";
import { inspect } from "./inspect.ts";
import { closeSecret, keyAct, rowsOf } from "./steps.ts";

let dashboard: Dashboard;
let seeded: Seeded;
let visitor: Visitor;

beforeAll(async () => {
  ({ dashboard, seeded, visitor } = await startSeeded());
});
afterAll(() => dashboard.stop());

const keyRows = (): Locator => rowsOf(visitor, pageNames.keys);
const choose = async (label: string, option: string | RegExp): Promise<void> => {
  await visitor.page.getByRole("combobox", { name: label, exact: true }).click();
  await visitor.page.getByRole("option", { name: option, exact: true }).click();
};
const count = (rows: Locator, wanted: number): Promise<void> =>
  waitFor(async () => (await rows.count()) === wanted, `${wanted} rows`);

test("a row says when its key was made and when it was revoked", async () => {
  await visitor.open(`${path.organization(seeded.org, "keys")}?state=all`);
  const day = /\d+ \w{3} UTC/;
  const laptop = keyRows().filter({ hasText: "Laptop" });
  expect(await laptop.getByText(day).count()).toBe(2);
  expect(await keyRows().filter({ hasText: "Production" }).getByText(day).count()).toBe(1);
  expect(await laptop.getByRole("cell", { name: words.standard, exact: true }).count()).toBe(1);
});

test("the successor of a key offers to revoke the old one, until that is done", async () => {
  const { page } = visitor;
  await visitor.open(path.organization(seeded.org, "keys"));
  const form = await keyAct(visitor, "Production", "replace");
  await form.getByRole("button", { name: words.replace, exact: true }).click();
  await page.getByRole("dialog", { name: secretTexts.title }).waitFor();
  await closeSecret(visitor);
  await count(keyRows().filter({ hasText: "Production" }), 2);
  const offer = page.getByRole("button", { name: /^Revoke the old / });
  expect(await offer.count()).toBe(1);
  await inspect(visitor, "a successor");
  await offer.click();
  const question = page.getByRole("dialog", { name: words.revokeTitle("Production") });
  await question.getByRole("textbox").fill("Production");
  await question.getByRole("button", { name: words.revokeAction("Production") }).click();
  await count(keyRows().filter({ hasText: "Production" }), 1);
  expect(await offer.count()).toBe(0);
});

test("the team page links to a person's keys, and the banner to those of people who left", async () => {
  const { page } = visitor;
  await visitor.open(path.organization(seeded.org, "team"));
  await page.getByRole("link", { name: teamTexts.keysOf(1, "dora") }).click();
  await page.waitForURL(/\/keys\?by=/);
  await visitor.arrived(pageNames.keys);
  await count(keyRows(), 1);
  expect(await keyRows().innerText()).toContain("Nightly batch");
  const maker = page.getByRole("combobox", { name: words.columns.by, exact: true });
  await waitFor(async () => (await maker.inputValue()) === "dora", "the maker's name");
  await maker.fill(seeded.developer);
  await page.getByRole("option", { name: "dora", exact: true }).waitFor();
  const options = page.getByRole("option");
  await waitFor(
    async () => (await options.count()) === 3,
    "everybody, who left, and the one of this address",
  );
  await page.keyboard.press("Escape");
  const { data } = await dashboard.root.app("GET /orgs/{org}/team", { org: seeded.org });
  const dora = data.find(({ email }) => email === seeded.developer)?.person.id ?? "";
  const session = await visitor.page.request.delete(
    `${dashboard.gateway.url}/app/v1/orgs/${seeded.org}/team/${dora}`,
    { headers: { origin: dashboard.gateway.url }, data: {} },
  );
  expect(session.ok()).toBe(true);
  await visitor.open(path.organization(seeded.org, "keys"));
  await inspect(visitor, "keys of somebody who left");
  await page.getByRole("button", { name: words.showOrphans }).click();
  await count(keyRows(), 1);
  expect(await keyRows().innerText()).toContain("Nightly batch");
  expect(visitor.complained()).toEqual([]);
});

test("models are found by capability, show how they are called, and link to requesting one", async () => {
  const { page } = visitor;
  const model = modelsTexts;
  await visitor.open(path.organization(seeded.org, "models"));
  const rows = rowsOf(visitor, pageNames.models);
  const names = (): Promise<string[]> => rows.locator("td:first-child a").allInnerTexts();
  const all = await names();
  expect(all.length).toBeGreaterThan(1);
  const dearest = page.getByRole("button", { name: model.prices.output });
  await dearest.click();
  await page.waitForURL(/sort=-output-1-m/);
  const amounts = (await rows.locator("td:nth-child(5)").allInnerTexts()).map((shown) =>
    Number(shown.replace(/[$–]/g, "")),
  );
  expect(amounts).toEqual(amounts.toSorted((a, b) => b - a));
  await dearest.click();
  await dearest.click();
  await page.waitForURL((url) => url.search === "");
  await choose(model.filters.tier, "research");
  await count(rows, 1);
  expect(await names()).toEqual([RESEARCH.model]);
  await choose(model.filters.state, "stale");
  await page.getByText(tableTexts.noMatch).waitFor();
  await page.getByRole("button", { name: tableTexts.clear }).click();
  await rows.getByRole("link", { name: PLAIN.model, exact: true }).click();
  const plain = page.getByRole("region", { name: PLAIN.model, exact: true });
  await plain.getByRole("button", { name: model.code }).click();
  expect(await plain.getByRole("tabpanel").innerText()).toContain(`"model":"${PLAIN.model}"`);
  await inspect(visitor, "a model with its code");
  await page.keyboard.press("Escape");
  await page.waitForURL((url) => url.search === "");
  await rows.getByRole("link", { name: RESEARCH.model, exact: true }).click();
  await page.getByRole("region", { name: RESEARCH.model, exact: true }).getByRole("link").click();
  const form = page.getByRole("dialog", { name: researchTexts.ask });
  const field = form.getByRole("combobox", { name: researchTexts.model });
  await waitFor(async () => (await field.inputValue()).startsWith(RESEARCH.model), "the model in the form");
  await page.keyboard.press("Escape");
  await page.waitForURL((url) => url.search === "");
});

test("the audit log is filtered by a person and by an action, each chosen by name", async () => {
  const { page } = visitor;
  const audit = auditTexts;
  const log = await dashboard.root.app(
    "GET /orgs/{org}/audit",
    { org: seeded.org },
    undefined,
    "?action=key.create",
  );
  const byOlga = log.data.filter(({ actor }) => actor.name === "olga").length;
  expect(byOlga).toBeLessThan(log.data.length);
  await visitor.open(path.organization(seeded.org, "audit"));
  await choose(audit.filters.action, "key.create");
  await page.waitForURL(/action=key\.create/);
  await choose(audit.filters.actor, "olga");
  await page.waitForURL(/actor=usr_/);
  await visitor.settled();
  const rows = rowsOf(visitor, pageNames.audit);
  await count(rows, byOlga);
  for (const text of await rows.allInnerTexts()) expect(text).toMatch(/olga created the /);
  await inspect(visitor, "a filtered log");
  await choose(audit.filters.actor, audit.all);
  await count(rows, log.data.length);
});

test("an operator finds requests of whichever organization, with what is asked for in the address", async () => {
  await visitor.leave();
  visitor = await dashboard.visitor(OPERATOR);
  const { page } = visitor;
  const { data: all } = await dashboard.root.app(
    "GET /operator/requests",
    {},
    undefined,
    "?range=24h&limit=100",
  );
  const refused = all.filter(({ state }) => state === "refused");
  await visitor.open(path.operator("home"));
  await page.getByRole("button", { name: shellTexts.find }).click();
  const palette = page.getByRole("dialog", { name: paletteTexts.title });
  await palette.getByRole("combobox").fill(operatorPageNames.requests);
  await page.keyboard.press("Enter");
  await visitor.arrived(operatorPageNames.requests);
  const rows = rowsOf(visitor, operatorPageNames.requests);
  await count(rows, all.length);
  await inspect(visitor, "requests of all organizations");
  await choose(activityTexts.state, activityStateNames.refused);
  await page.waitForURL(/state=refused/);
  await count(rows, refused.length);
  const [found] = refused;
  // The organization has a column of its own here; on a phone it is below the time.
  expect(await rows.first().locator("td").first().innerText()).not.toContain(found?.org.name ?? "");
  await rows.first().getByRole("link").first().click();
  await page.waitForURL(`**/operator/requests?**req=${found?.id}`);
  const drawer = page.getByRole("dialog", { name: activityTexts.request });
  await drawer.getByText(found?.id ?? "", { exact: true }).waitFor();
  await inspect(visitor, "a request of some organization");
  // A request only in the address and not in the list; and one that does not exist.
  await visitor.open(`${path.operator("requests")}?state=running&req=${found?.id}`);
  await drawer.getByText(found?.id ?? "", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.waitForURL((url) => !url.search.includes("req="));
  await visitor.open(`${path.operator("requests")}?req=req_${"0".repeat(32)}`);
  await page.getByText(operatorRequestsTexts.noSuch).waitFor();
  await rows
    .first()
    .getByRole("link", { name: found?.org.name ?? "", exact: true })
    .click();
  await page.waitForURL(`**${path.organization(found?.org.id ?? "")}`);
  expect(visitor.complained()).toEqual([]);
});
