// Forms and confirmations in use: names that are hard to type, clicks beside them, where the focus is afterwards.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { path } from "../../dashboard/path-builder.ts";
import { dialogTexts, onceTexts, pageNames, secretTexts } from "../../dashboard/components/texts.ts";
import { alertsTexts as alerts } from "../../dashboard/pages/alerts/texts.ts";
import { billingTexts as billing } from "../../dashboard/pages/billing/texts.ts";
import { keysTexts as keys } from "../../dashboard/pages/keys/texts.ts";
import { teamTexts as team } from "../../dashboard/pages/team/texts.ts";
import { waitFor } from "../support/wait.ts";
import { type Dashboard, DESKTOP, NARROW, type Visitor } from "./dashboard.ts";
import { type Seeded, startSeeded } from "./fixture.ts";
import { inspect } from "./inspect.ts";
import { closeSecret, createKey, keyAct, rowsOf } from "./steps.ts";

let dashboard: Dashboard;
let seeded: Seeded;
let visitor: Visitor;

beforeAll(async () => {
  ({ dashboard, seeded, visitor } = await startSeeded());
});
afterAll(() => dashboard.stop());

const button = (name: string): Locator => visitor.page.getByRole("button", { name, exact: true });

/** A key whose name was stored before the current rules. */
async function keyNamed(name: string): Promise<string> {
  const { id } = await dashboard.root.app("POST /orgs/{org}/keys", { org: seeded.org }, { name: "before" });
  await dashboard.gateway.tamper(`UPDATE api_key SET name = ?1 WHERE key_id = '${id}'`, name);
  return id;
}

const NAMES = [
  { name: "nightly  batch", typed: "nightly batch" },
  { name: "nightly\u00a0build", typed: "nightly build" },
  { name: "cafe\u0301", typed: "café" },
  { name: "Olga’s key", typed: "Olga's key" },
  { name: "\u202eyek sdrawkcab", typed: "" },
  { name: "\u200b", typed: "" },
];

for (const { name, typed } of NAMES)
  test(`a key is revoked by its name as it is shown, or by its id: ${JSON.stringify(name)}`, async () => {
    const { page } = visitor;
    const id = await keyNamed(name);
    await visitor.open(`${path.organization(seeded.org, "keys")}`);
    const row = rowsOf(visitor, pageNames.keys).filter({ has: page.locator(`a[href$="/${id}"]`) });
    const link = row.locator(`a[href$="/${id}"]`);
    expect((await link.boundingBox())?.width ?? 0).toBeGreaterThan(10);
    await row.getByRole("button").last().click();
    await page.getByRole("menuitem", { name: keys.revoke, exact: true }).click();
    const question = page.getByRole("dialog");
    await question.getByText(dialogTexts.orId(id)).waitFor();
    const revoke = question.locator("button[type=submit]");
    await question.getByLabel(dialogTexts.typeName).fill("something else");
    expect(await revoke.isDisabled()).toBe(true);
    await question.getByLabel(dialogTexts.typeName).fill(typed === "" ? id : typed);
    await revoke.click();
    await question.waitFor({ state: "detached" });
    const { status } = await dashboard.root.app("GET /orgs/{org}/keys/{key}", { org: seeded.org, key: id });
    expect(status).toBe("revoked");
  });

test("the limit of a key with a name that is no longer allowed can be changed; a new key cannot get such a name", async () => {
  const id = await keyNamed("\u202eold");
  const { page } = visitor;
  await visitor.open(`${path.key(seeded.org, id)}?act=edit`);
  const form = page.getByRole("dialog");
  await form.getByLabel(keys.limit).fill("7");
  await form.getByRole("button", { name: dialogTexts.save, exact: true }).click();
  await form.waitFor({ state: "detached" });
  const { limit_usd } = await dashboard.root.app("GET /orgs/{org}/keys/{key}", { org: seeded.org, key: id });
  expect(limit_usd).toBe("7.000000000");
  for (const name of ["\u202eold", "\u200b", "\u2066\u2069"])
    expect((await dashboard.root.try("POST /orgs/{org}/keys", { org: seeded.org }, { name })).status).toBe(
      400,
    );
});

test("removing a member asks for the email address, and says so", async () => {
  const { page } = visitor;
  await visitor.open(path.organization(seeded.org, "team"));
  await button(team.menu(seeded.developer)).click();
  await page.getByRole("menuitem", { name: team.remove, exact: true }).click();
  const question = page.getByRole("dialog");
  await question.getByLabel(dialogTexts.typeEmail).waitFor();
  expect(await question.getByText(dialogTexts.typeName).count()).toBe(0);
});

/** The accessible name of the focused element; its tag if it has none. */
const focused = (): Promise<string> =>
  visitor.page.evaluate<string>(`(() => {
    const one = document.activeElement;
    return one.getAttribute("aria-label") ?? (one.innerText.trim().slice(0, 80) || one.tagName);
  })()`);
const focusComesTo = (name: string): Promise<void> =>
  waitFor(async () => (await focused()) === name, `the focus on ${name}`);

test("after a form or confirmation closes, the focus is on the button that opened it", async () => {
  const { page } = visitor;
  await visitor.open(path.organization(seeded.org, "keys"));
  await button(keys.create).click();
  await page.getByRole("dialog").getByLabel(keys.name, { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await focusComesTo(keys.create);
  for (const act of ["edit", "pause", "revoke"] as const) {
    const dialog = await keyAct(visitor, "Production", act);
    await dialog.getByRole("button", { name: dialogTexts.cancel, exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    await focusComesTo(keys.menu("Production"));
  }
});

test("Escape and the close button ask before typed input is lost; Cancel does not, nor does an untouched form", async () => {
  const { page } = visitor;
  await visitor.open(path.organization(seeded.org, "keys"));
  const form = page.getByRole("dialog", { name: keys.create });
  await button(keys.create).click();
  await form.getByLabel(keys.name, { exact: true }).fill("Half typed");
  await page.keyboard.press("Escape");
  await form.getByText(dialogTexts.lose, { exact: true }).waitFor();
  await waitFor(async () => (await focused()) === dialogTexts.stay, "the focus on what loses nothing");
  await inspect(visitor, "a form that asks before it closes");
  await page.keyboard.press("Escape");
  await form.getByText(dialogTexts.lose, { exact: true }).waitFor({ state: "detached" });
  expect(await form.getByLabel(keys.name, { exact: true }).inputValue()).toBe("Half typed");
  await form.locator(".mantine-Modal-close").click();
  await form.getByRole("button", { name: dialogTexts.stay, exact: true }).click();
  expect(await form.getByLabel(keys.name, { exact: true }).inputValue()).toBe("Half typed");
  await page.keyboard.press("Escape");
  await form.getByRole("button", { name: dialogTexts.discard, exact: true }).click();
  await form.waitFor({ state: "detached" });
  await focusComesTo(keys.create);
  await button(keys.create).click();
  await form.getByLabel(keys.name, { exact: true }).fill("Half typed");
  await form.getByRole("button", { name: dialogTexts.cancel, exact: true }).click();
  await form.waitFor({ state: "detached" });
}, 120_000);

test("a refusal names fields by their labels, not by the API's names", async () => {
  const { page } = visitor;
  await visitor.open(path.organization(seeded.org, "billing"));
  await page.getByLabel(billing.autoOn).check({ force: true });
  await page.getByLabel(billing.threshold, { exact: true }).fill("20");
  await page.getByLabel(billing.topUpBy, { exact: true }).fill("10");
  await button(dialogTexts.save).click();
  const alert = page.getByRole("alert").filter({ hasText: "must not be below" });
  expect(await alert.innerText()).toContain(`“${billing.topUpBy}” must not be below “${billing.threshold}”`);
  await page.getByLabel(billing.topUpBy, { exact: true }).fill("30");
  await page.getByLabel(billing.cap, { exact: true }).fill("25");
  await button(dialogTexts.save).click();
  await page
    .getByRole("alert")
    .getByText(`“${billing.cap}” must not be below “${billing.topUpBy}”`)
    .waitFor();
  await visitor.open(path.organization(seeded.org, "alerts"));
  await button(alerts.addChannel).click();
  const form = page.getByRole("dialog");
  await form.getByLabel(alerts.columns.name, { exact: true }).fill("Pager");
  await form.getByLabel(alerts.address, { exact: true }).fill("http://10.0.0.1/");
  await form.locator("button[type=submit]").click();
  expect(await form.getByRole("alert").innerText()).toContain(`“${alerts.address}” `);
  await form.getByRole("button", { name: dialogTexts.cancel, exact: true }).click();
  await visitor.open(path.organization(seeded.org, "keys"));
  await button(keys.create).click();
  await form.getByLabel(keys.name, { exact: true }).fill("\u202eold");
  await form.locator("button[type=submit]").click();
  expect(await form.getByRole("alert").innerText()).toContain(`“${keys.name}”: `);
  visitor.complained();
}, 120_000);

test("after a secret that was shown following a form, the focus is where the form was opened", async () => {
  const { page } = visitor;
  await visitor.open(path.organization(seeded.org, "keys"));
  await createKey(visitor, { name: "Of the focus" });
  await closeSecret(visitor);
  await focusComesTo(keys.create);
  const dialog = await keyAct(visitor, "Of the focus", "replace");
  await dialog.getByRole("button", { name: keys.replace, exact: true }).click();
  await page.getByRole("dialog", { name: secretTexts.title }).waitFor();
  await closeSecret(visitor);
  await waitFor(async () => (await focused()) !== "BODY", "the focus on something");
});

test("after a confirmation closes, the focus is on the page's heading if its row is gone", async () => {
  const { page } = visitor;
  await dashboard.root.app("POST /orgs/{org}/keys", { org: seeded.org }, { name: "To go" });
  await visitor.open(path.organization(seeded.org, "keys"));
  const question = await keyAct(visitor, "To go", "revoke");
  await question.getByLabel(dialogTexts.typeName).fill("To go");
  await question.getByRole("button", { name: keys.revokeAction("To go"), exact: true }).click();
  await question.waitFor({ state: "detached" });
  await button(keys.menu("To go")).waitFor({ state: "detached" });
  await focusComesTo(pageNames.keys);
  await page.keyboard.press("Tab");
  expect(await focused()).not.toBe("BODY");
});

/** Outside of any open dialog. */
const BESIDE = { x: 8, y: 8 };

test("a click beside a form closes it, unless something in it was typed or chosen", async () => {
  const { page } = visitor;
  await visitor.open(path.organization(seeded.org, "keys"));
  const form = page.getByRole("dialog");
  await button(keys.create).click();
  await form.waitFor();
  await page.mouse.click(BESIDE.x, BESIDE.y);
  await form.waitFor({ state: "detached" });
  await button(keys.create).click();
  await form.getByLabel(keys.name, { exact: true }).fill("Much thought of");
  await page.mouse.click(BESIDE.x, BESIDE.y);
  await page.waitForTimeout(300);
  expect(await form.getByLabel(keys.name, { exact: true }).inputValue()).toBe("Much thought of");
  await form.getByRole("button", { name: dialogTexts.cancel, exact: true }).click();
  const replace = await keyAct(visitor, "Production", "replace");
  await replace.getByLabel(keys.overlap).click();
  await page.getByRole("option").nth(2).click();
  await page.mouse.click(BESIDE.x, BESIDE.y);
  await page.waitForTimeout(300);
  expect(await replace.isVisible()).toBe(true);
});

test("a double click opens a form, and does not close it", async () => {
  const { page } = visitor;
  await visitor.open(path.organization(seeded.org, "keys"));
  await button(keys.create).dblclick();
  await page.waitForTimeout(400);
  expect(await page.getByRole("dialog").isVisible()).toBe(true);
});

test("while a secret is shown, going back and reloading ask first", async () => {
  const { page } = visitor;
  await visitor.open(path.organization(seeded.org));
  await page.getByRole("link", { name: pageNames.keys, exact: true }).click();
  await visitor.arrived(pageNames.keys);
  const secret = await createKey(visitor, { name: "Not lost" });
  const shown = page.getByRole("dialog", { name: secretTexts.title });
  visitor.complained();
  await page.goBack({ waitUntil: "commit" }).catch(() => null);
  await shown.getByText(onceTexts.leaving).waitFor();
  expect(await shown.getByText(secret, { exact: true }).isVisible()).toBe(true);
  expect(await visitor.axe()).toEqual([]);
  await shown.getByRole("button", { name: onceTexts.stay, exact: true }).click();
  expect(new URL(page.url()).pathname).toBe(path.organization(seeded.org, "keys"));
  await page.evaluate<void>("setTimeout(() => location.reload())");
  await waitFor(
    async () => visitor.complained().some((line) => line.startsWith("beforeunload")),
    "a question",
  );
  expect(await shown.getByText(secret, { exact: true }).isVisible()).toBe(true);
  await page.goBack({ waitUntil: "commit" }).catch(() => null);
  await shown.getByRole("button", { name: onceTexts.leave, exact: true }).click();
  await visitor.arrived(pageNames.overview);
});

test("a key whose secret did not arrive is reported, with a link to it", async () => {
  const { page } = visitor;
  await visitor.open(path.organization(seeded.org, "keys"));
  let lost = false;
  await page.route("**/orgs/*/keys", async (route) => {
    if (lost || route.request().method() === "GET") return await route.continue();
    lost = true;
    await route.fetch();
    await route.abort();
  });
  await button(keys.create).click();
  const form = page.getByRole("dialog", { name: keys.create });
  await form.getByLabel(keys.name, { exact: true }).fill("On the way");
  const make = form.getByRole("button", { name: keys.create, exact: true });
  await make.click();
  await form.getByRole("alert").waitFor();
  await make.click();
  await form.getByText(keys.lost).waitFor();
  expect(await make.count()).toBe(0);
  await form.getByRole("link", { name: "On the way" }).click();
  await visitor.arrived("On the way");
  await page.unrouteAll();
  visitor.complained();
});

test("the title of a dialog with a long name wraps, and its close button stays reachable", async () => {
  const name = "long-name-".repeat(20).replaceAll("-", "");
  await dashboard.root.app("POST /orgs/{org}/keys", { org: seeded.org }, { name });
  await visitor.open(path.organization(seeded.org, "keys"));
  const question = await keyAct(visitor, name, "revoke");
  await question.waitFor();
  for (const viewport of [DESKTOP, NARROW]) {
    await visitor.resize(viewport);
    const [dialog, cross, title] = await Promise.all(
      [question, question.getByRole("button", { name: "Close" }), question.locator("h2").first()].map((one) =>
        one.boundingBox(),
      ),
    );
    const right = (box: typeof dialog): number => Math.round((box?.x ?? 0) + (box?.width ?? 0));
    expect(right(cross)).toBeLessThanOrEqual(right(dialog));
    expect(right(title)).toBeLessThanOrEqual(right(cross));
  }
  await visitor.resize(DESKTOP);
});
