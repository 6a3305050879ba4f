// Sessions: a deep link survives the sign-in, a session survives a restart and ends on the server, and nobody stays
// on a page that is not theirs.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { path } from "../../../dashboard/path-builder.ts";
import { pageNames as pages, shellTexts as shell } from "../../../dashboard/components/texts.ts";
import { signInTexts as signIn } from "../../../dashboard/pages/sign-in/texts.ts";
import { newMember, PASSWORD } from "../../support/browser.ts";
import { type Dashboard, startDashboard, type Visitor } from "../dashboard.ts";
import { newOrganization } from "../steps.ts";

/** The browser's complaint about a 401 while nobody is signed in. */
const UNAUTHORIZED = /status of 401/;

let dashboard: Dashboard;
let org: string;
let other: string;
let dora: Visitor;

beforeAll(async () => {
  dashboard = await startDashboard();
  org = await newOrganization(dashboard, "Acme");
  other = await newOrganization(dashboard, "Other");
  const at = { org, role: "developer", email: "dora@example.com" } as const;
  await newMember(dashboard.root, dashboard.gateway, at);
  dora = await dashboard.visitor(at.email);
});
afterAll(() => dashboard.stop());

const heading = (visitor: Visitor, name: string): Promise<void> =>
  visitor.page.getByRole("heading", { level: 1, name, exact: true }).waitFor();

const profileWith = async (cookie: string): Promise<number> =>
  (await fetch(`${dashboard.gateway.url}/app/v1/profile`, { headers: { cookie } })).status;

async function typePassword({ page }: Visitor): Promise<void> {
  await page.getByLabel(signIn.email).fill("dora@example.com");
  await page.getByLabel(signIn.password, { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: signIn.submit, exact: true }).click();
}

test("a visitor who is not signed in signs in first, and then gets to the link's page with its filters", async () => {
  const visitor = await dashboard.visitor();
  await visitor.page.goto(`${dashboard.gateway.url}${path.organization(org, "activity")}?range=24h`);
  await heading(visitor, signIn.title);
  await typePassword(visitor);
  await heading(visitor, pages.activity);
  const { pathname, search } = new URL(visitor.page.url());
  expect([pathname, search]).toEqual([path.organization(org, "activity"), "?range=24h"]);
  expect(visitor.complained({ about: UNAUTHORIZED })).toEqual([]);
  await visitor.leave();
});

test.each(["javascript:window.__xss=1", "https://evil.example/", "//evil.example/", "/\\evil.example"])(
  "a sign-in that is told to go on to %s stays here",
  async (next) => {
    const visitor = await dashboard.visitor();
    await visitor.page.goto(`${dashboard.gateway.url}/sign-in?next=${encodeURIComponent(next)}`);
    await typePassword(visitor);
    await heading(visitor, pages.overview);
    expect(visitor.page.url()).toBe(dashboard.gateway.url + path.organization(org));
    expect(visitor.complained({ about: UNAUTHORIZED })).toEqual([]);
    await visitor.leave();
  },
);

test("a person who is no operator is redirected from the operator's pages, and told that another organization is not theirs", async () => {
  await dora.page.goto(dashboard.gateway.url + path.operator("entitlements"));
  await heading(dora, pages.overview);
  expect(dora.page.url()).toBe(dashboard.gateway.url + path.organization(org));
  await dora.page.goto(dashboard.gateway.url + path.organization(other, "keys"));
  await dora.page.getByText(shell.noMember).waitFor();
  await dora.page.getByRole("link", { name: shell.back }).click();
  await heading(dora, pages.overview);
  expect(dora.complained()).toEqual([]);
});

test("a session survives a restart of the gateway, on an open page and on the next one", async () => {
  await dora.open(path.organization(org, "keys"));
  await dashboard.gateway.restart();
  await dora.page.getByRole("link", { name: pages.models, exact: true }).click();
  await heading(dora, pages.models);
  await dora.open(path.organization(org, "usage"));
  await heading(dora, pages.usage);
  expect(dora.complained()).toEqual([]);
});

test("signing out ends the session on the server: its cookie gets 401 from then on, and no page opens", async () => {
  const cookie = await dora.cookie();
  expect(await profileWith(cookie)).toBe(200);
  await dora.page.getByRole("button", { name: shell.account }).click();
  await dora.page.getByRole("menuitem", { name: shell.signOut }).click();
  await heading(dora, signIn.title);
  expect(await profileWith(cookie)).toBe(401);
  await dora.page.goBack();
  await heading(dora, signIn.title);
  await dashboard.gateway.restart();
  expect(await profileWith(cookie)).toBe(401);
  await dora.page.goto(dashboard.gateway.url + path.organization(org, "keys"));
  await heading(dora, signIn.title);
  expect(dora.complained({ about: UNAUTHORIZED })).toEqual([]);
});
