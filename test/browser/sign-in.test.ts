// Signing in on the way to a page: a stranger with a link signs in and is where the link leads.
import { afterAll, beforeAll, test } from "bun:test";
import { path } from "../../dashboard/path-builder.ts";
import { texts } from "../../dashboard/texts.ts";
import { newMember, PASSWORD } from "../support/browser.ts";
import { type Dashboard, startDashboard } from "./dashboard.ts";

const EMAIL = "vera@example.com";

let dashboard: Dashboard;
let org: string;

beforeAll(async () => {
  dashboard = await startDashboard();
  const { root, gateway } = dashboard;
  org = (await root.app("POST /operator/organizations", {}, { name: "Acme Robotics" })).id;
  await newMember(root, gateway, { org, role: "viewer", email: EMAIL });
});
afterAll(() => dashboard.stop());

test("a stranger with a link signs in and is where the link leads", async () => {
  const { page } = await dashboard.visitor();
  const address = `${path.organization(org, "models")}?tier=paid`;
  await page.goto(dashboard.gateway.url + address);
  await page.waitForURL((url) => url.pathname === path.signIn());
  await page.getByLabel(texts.signIn.email).fill(EMAIL);
  await page.getByLabel(texts.signIn.password, { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: texts.signIn.submit, exact: true }).click();
  await page.waitForURL((url) => url.pathname + url.search === address);
});
