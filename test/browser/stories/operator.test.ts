// An operator's morning: a customer is invited, a route is closed and opened, a script gets a key and loses it, a
// person gets back in, and the ledger is audited. Each action is checked where it takes effect: by a program or by
// another person.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { path } from "../../../dashboard/path-builder.ts";
import {
  accountFormTexts,
  dialogTexts,
  operatorPageNames as operatorPages,
  pageNames,
  secretTexts,
} from "../../../dashboard/components/texts.ts";
import { invitationTexts } from "../../../dashboard/pages/invitation/texts.ts";
import { operatorLedgerTexts as operatorLedger } from "../../../dashboard/pages/operator/ledger/texts.ts";
import { operatorPeopleTexts as operatorPeople } from "../../../dashboard/pages/operator/people/texts.ts";
import { operatorRoutesTexts as operatorRoutes } from "../../../dashboard/pages/operator/routes/texts.ts";
import { organizationsTexts as organizations } from "../../../dashboard/pages/organizations/texts.ts";
import { resetTexts } from "../../../dashboard/pages/reset/texts.ts";
import { newMember, PASSWORD } from "../../support/browser.ts";
import { hello } from "../../support/gateway.ts";
import { PLAIN } from "../../support/models.ts";
import { type Dashboard, OPERATOR, startDashboard, type Visitor } from "../dashboard.ts";
import { newOrganization, rowsOf } from "../steps.ts";

const NEW_PASSWORD = "a battery of correct horses";

let dashboard: Dashboard;
let root: Visitor;

beforeAll(async () => {
  dashboard = await startDashboard();
  root = await dashboard.visitor(OPERATOR);
});
afterAll(() => dashboard.stop());

const dialogOf = ({ page }: Visitor): Locator => page.getByRole("dialog");
const gone = (visitor: Visitor): Promise<void> => dialogOf(visitor).waitFor({ state: "hidden" });

/** An action of a row: its button, or an entry of its menu. */
async function act(row: Locator, name: string): Promise<void> {
  const button = row.getByRole("button", { name, exact: true });
  if ((await button.count()) > 0) return button.click();
  await row.getByRole("button").last().click();
  await row.page().getByRole("menuitem", { name, exact: true }).click();
}

/** The link that is shown once, below this gateway's address. */
const shownLink = (visitor: Visitor): Promise<string> =>
  dialogOf(visitor)
    .getByText(/#token=/)
    .innerText();

test("an organization is made and its owner invited, who joins by the link, once", async () => {
  const { page } = root;
  await root.open(path.operator("organizations"));
  await page.getByRole("button", { name: organizations.create }).first().click();
  await dialogOf(root).getByLabel(organizations.name).fill("Acme");
  await dialogOf(root).getByRole("button", { name: organizations.create }).click();
  await dialogOf(root).getByLabel(organizations.email).fill("olga@example.com");
  await dialogOf(root).getByRole("button", { name: organizations.invite }).click();
  const link = await shownLink(root);
  await dialogOf(root).getByRole("button", { name: secretTexts.done }).click();

  const olga = await dashboard.visitor();
  await olga.page.goto(link);
  await olga.page.getByLabel(accountFormTexts.name).fill("Olga");
  await olga.page.getByLabel(accountFormTexts.password, { exact: true }).fill(PASSWORD);
  await olga.page.getByRole("button", { name: invitationTexts.accept }).click();
  await olga.page.getByRole("heading", { level: 1, name: pageNames.overview }).waitFor();
  await olga.page.goto("about:blank");
  await olga.page.goto(link);
  await olga.page.getByRole("alert").waitFor();
  expect(olga.complained({ about: /status of 4\d\d/ })).toEqual([]);
  await olga.leave();
  const [row] = (await dashboard.root.app("GET /operator/organizations")).data;
  expect(row).toMatchObject({ name: "Acme", members: 1 });
});

test("a route disabled by its name refuses the next request, and the models page says why; enabled, it serves", async () => {
  const { gateway } = dashboard;
  const customer = await gateway.customer();
  await root.open(path.operator("routes"));
  const row = rowsOf(root, operatorPages.routes).filter({ hasText: PLAIN.model });
  await act(row, operatorRoutes.disable);
  await dialogOf(root).getByLabel(operatorRoutes.reason).fill("bad answers");
  await dialogOf(root).getByLabel(dialogTexts.typeName).fill(`${PLAIN.model}@simulator/local`);
  await dialogOf(root).getByRole("button", { name: operatorRoutes.disable }).click();
  await gone(root);
  const refused = await gateway.chat<{ error: { code: string } }>(customer, hello());
  expect([refused.status, refused.json.error.code]).toEqual([503, "route_disabled"]);
  expect((await gateway.get(customer, `/v1/models/${PLAIN.model}`)).text).toContain("bad answers");
  await row.getByText("bad answers").waitFor();
  await act(row, operatorRoutes.enable);
  await dialogOf(root).getByRole("button", { name: operatorRoutes.enable }).click();
  await gone(root);
  expect((await gateway.chat(customer, hello())).status).toBe(200);
});

test("a management key operates the gateway until it is revoked by its name", async () => {
  const { page } = root;
  await root.open(path.operator("people"));
  await page.getByRole("button", { name: operatorPeople.createKey }).click();
  await dialogOf(root).getByLabel(operatorPeople.columns.name).fill("Deploy script");
  await dialogOf(root).getByRole("button", { name: operatorPeople.createKey }).click();
  const secret = await dialogOf(root)
    .getByText(/^gw_mk_/)
    .innerText();
  await dialogOf(root).getByLabel(secretTexts.stored).check();
  await dialogOf(root).getByRole("button", { name: secretTexts.done }).click();
  await gone(root);
  expect((await page.content()).includes(secret)).toBe(false);
  const call = async (): Promise<number> => {
    const headers = { authorization: `Bearer ${secret}` };
    return (await fetch(`${dashboard.gateway.url}/admin/v1/organizations`, { headers })).status;
  };
  expect(await call()).toBe(200);
  await act(rowsOf(root, operatorPeople.keys).filter({ hasText: "Deploy script" }), operatorPeople.revokeKey);
  await dialogOf(root).getByRole("textbox").fill("Deploy script");
  await dialogOf(root).getByRole("button", { name: operatorPeople.revokeKey }).click();
  await gone(root);
  expect(await call()).toBe(401);
});

test("a link for a new password ends every session of the person, works once, and the old password stops working", async () => {
  const org = await newOrganization(dashboard, "Basalt");
  const at = { org, role: "developer", email: "dora@example.com" } as const;
  const dora = await newMember(dashboard.root, dashboard.gateway, at);
  await root.open(path.operator("people"));
  await act(rowsOf(root, operatorPages.people).filter({ hasText: at.email }), operatorPeople.reset);
  await dialogOf(root).getByRole("button", { name: operatorPeople.reset }).click();
  const link = await shownLink(root);
  await dialogOf(root).getByRole("button", { name: secretTexts.done }).click();

  const visitor = await dashboard.visitor();
  await visitor.page.goto(link);
  await visitor.page.getByLabel(resetTexts.password, { exact: true }).fill(NEW_PASSWORD);
  await visitor.page.getByRole("button", { name: resetTexts.save }).click();
  await visitor.page.getByText(resetTexts.done).waitFor();
  expect((await dora.try("GET /profile")).status).toBe(401);
  const old = { email: at.email, password: PASSWORD };
  expect((await dora.send("POST", "/auth/sign-in/email", old)).status).toBe(401);
  await visitor.signIn(at.email, NEW_PASSWORD);
  await visitor.page.getByRole("heading", { level: 1, name: pageNames.overview }).waitFor();
  expect(visitor.complained({ about: /status of 401/ })).toEqual([]);
  await visitor.leave();
});

test("the audit of the ledger runs on the page: every invariant holds", async () => {
  await root.open(path.operator("ledger"));
  await root.page.getByRole("button", { name: operatorLedger.run }).click();
  await root.page.getByText(operatorLedger.ok).waitFor();
  const rows = await rowsOf(root, operatorLedger.invariants).allInnerTexts();
  expect(rows.length).toBeGreaterThan(10);
  expect(root.complained()).toEqual([]);
});
