// Two organizations of the same name: wherever either is named, the end of its id is beside it, and only there.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { path } from "../../dashboard/path-builder.ts";
import { operatorPageNames, pageNames, shellTexts } from "../../dashboard/components/texts.ts";
import { operatorCreditsTexts as credits } from "../../dashboard/pages/operator/credits/texts.ts";
import { paletteTexts } from "../../dashboard/palette/texts.ts";
import { newMember, tokenOf } from "../support/browser.ts";
import { hello } from "../support/gateway.ts";
import { type Dashboard, OPERATOR, startDashboard } from "./dashboard.ts";
import { inspect } from "./inspect.ts";
import { newOrganization, rowsOf } from "./steps.ts";

const OWNER = "olga@example.com";
const ends = new Map<string, string>();
let dashboard: Dashboard;
let first: string;
let second: string;
let other: string;

beforeAll(async () => {
  dashboard = await startDashboard();
  [first, second, other] = [
    await newOrganization(dashboard, "Acme"),
    await newOrganization(dashboard, "acme "),
    await newOrganization(dashboard, "Basalt"),
  ];
  const { root, gateway } = dashboard;
  const owner = await newMember(root, gateway, { org: first, role: "owner", email: OWNER });
  for (const org of [second, other]) {
    const asked = { email: OWNER, role: "viewer" };
    const { link } = await root.app("POST /operator/organizations/{org}/invitations", { org }, asked);
    await owner.app("POST /invitations/accept", {}, { token: tokenOf(link) });
  }
  for (const org of [first, second, other]) {
    ends.set(org, `…${org.slice(-4)}`);
    const { id, secret } = await root.app("POST /orgs/{org}/keys", { org }, { name: "Production" });
    await gateway.chat({ organizationId: org, keyId: id, secret: secret ?? "" }, hello());
  }
});
afterAll(() => dashboard.stop());

test("a member distinguishes them in the switcher and in the palette", async () => {
  const visitor = await dashboard.visitor(OWNER);
  const { page } = visitor;
  await visitor.open(path.organization(first));
  const switcher = page.getByRole("combobox", { name: shellTexts.organization });
  expect(await switcher.inputValue()).toBe(`Acme ${ends.get(first)}`);
  await switcher.click();
  expect(await page.getByRole("option").allInnerTexts()).toEqual(
    expect.arrayContaining([`Acme ${ends.get(first)}`, `acme ${ends.get(second)}`, "Basalt"]),
  );
  await page.getByRole("option", { name: ends.get(second) }).click();
  await page.waitForURL((url) => url.pathname.includes(second));
  await visitor.arrived(pageNames.overview);
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: paletteTexts.title });
  await palette.getByRole("combobox").fill("acme");
  await palette.getByRole("option", { name: `Acme ${ends.get(first)}` }).waitFor();
  expect(visitor.complained()).toEqual([]);
  await visitor.leave();
});

test("an operator distinguishes them in every list, in the filter and above their pages", async () => {
  const root = await dashboard.visitor(OPERATOR);
  const { page } = root;
  await root.open(path.operator("requests"));
  const rows = rowsOf(root, operatorPageNames.requests);
  for (const org of [first, second]) await rows.filter({ hasText: ends.get(org) ?? "" }).waitFor();
  expect(await rows.filter({ hasText: "Basalt" }).getByText(/…/).count()).toBe(0);
  await inspect(root, "requests of two organizations of one name");

  await root.open(path.operator("credits"));
  for (const org of [first, second])
    await rowsOf(root, credits.shown.transactions)
      .filter({ hasText: ends.get(org) ?? "" })
      .waitFor();
  await page.getByRole("combobox", { name: "Organization" }).first().click();
  await page.getByRole("option", { name: `Acme ${ends.get(first)}` }).waitFor();
  expect(await page.getByRole("option", { name: "Basalt", exact: true }).count()).toBe(1);

  await root.open(path.operator("audit"));
  await page
    .getByText(ends.get(second) ?? "", { exact: true })
    .first()
    .waitFor();
  await root.open(path.organization(second));
  await page.getByText(ends.get(second) ?? "", { exact: true }).waitFor();
  expect(root.complained()).toEqual([]);
});
