// Signing in with the company's account, through the pages: there and back, and what the page says after a return
// without a session.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { path } from "../../dashboard/path-builder.ts";
import { pageNames } from "../../dashboard/components/texts.ts";
import { signInTexts as words } from "../../dashboard/pages/sign-in/texts.ts";
import { newMember } from "../support/browser.ts";
import { type Company, startCompany } from "../support/company.ts";
import { type Dashboard, startDashboard, type Visitor } from "./dashboard.ts";
import { inspect } from "./inspect.ts";

const EMAIL = "vera@example.com";
/** The company's page is on another host, to which the browser is sent. */
const COMPANY = /^another host: http:\/\/127\.0\.0\.1:\d+\/authorize\?/;

let company: Company;
let dashboard: Dashboard;
let visitor: Visitor;
let org: string;

beforeAll(async () => {
  company = await startCompany("tollgate");
  dashboard = await startDashboard({
    configure: ({ signIn }) => {
      const { discoveryUrl } = company;
      signIn.oidc = [{ id: "acme", name: "Acme", discoveryUrl, clientId: "tollgate", clientSecret: "s" }];
    },
  });
  const { root, gateway } = dashboard;
  org = (await root.app("POST /operator/organizations", {}, { name: "Acme Robotics" })).id;
  await newMember(root, gateway, { org, role: "viewer", email: EMAIL });
  visitor = await dashboard.visitor();
});
afterAll(async () => {
  await dashboard.stop();
  await company.stop();
});

const button = (name: string): Locator => visitor.page.getByRole("button", { name, exact: true });

test("the sign-in page offers the company, and no passkeys at a bare address", async () => {
  await visitor.open(path.signIn());
  await button(words.with("Acme")).waitFor();
  expect(await button(words.passkey).count()).toBe(0);
  await inspect(visitor, "the sign-in page with a company");
});

for (const [person, code] of [
  [null, "access_denied"],
  [{ sub: "43", email: "eve@example.com", email_verified: true, name: "Eve" }, "signup_disabled"],
  [{ sub: "44", email: EMAIL, email_verified: false, name: "Mallory" }, "account_not_linked"],
] as const)
  test(`a return with ${code} explains the problem`, async () => {
    company.person = person;
    await visitor.open(`${path.signIn()}?next=${encodeURIComponent(path.organization(org, "models"))}`);
    await button(words.with("Acme")).click();
    const alert = visitor.page.getByRole("alert");
    await alert.getByText(words.returned[code]).waitFor();
    await alert.getByText(code, { exact: true }).waitFor();
    await inspect(visitor, `returned with ${code}`, { about: COMPANY });
  });

test("after a return without a session the next attempt leads where the person wanted to go", async () => {
  company.person = { sub: "42", email: EMAIL, email_verified: true, name: "Vera" };
  await button(words.with("Acme")).click();
  await visitor.page.waitForURL((url) => url.pathname === path.organization(org, "models"));
  await visitor.arrived(pageNames.models);
  expect(visitor.complained({ about: COMPANY })).toEqual([]);
});

test("text that someone else put into the address is not shown", async () => {
  const stranger = await dashboard.visitor();
  await stranger.open(`${path.signIn()}?error=${encodeURIComponent("Call 555-0100 now")}`);
  const alert = await stranger.page.getByRole("alert").innerText();
  expect(alert).toContain(words.returnedOther);
  expect(alert).not.toContain("555-0100");
  await stranger.leave();
});
