// Research Mode with two people in two browsers: the requester does not decide, and an approval opens one model for
// research keys only, until the day that the pages show.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { exactMoney } from "../../../dashboard/format/money.ts";
import { formatDay } from "../../../dashboard/format/time.ts";
import { path } from "../../../dashboard/path-builder.ts";
import { dialogTexts, operatorPageNames, pageNames } from "../../../dashboard/components/texts.ts";
import { operatorEntitlementsTexts as office } from "../../../dashboard/pages/operator/entitlements/texts.ts";
import { researchTexts as words } from "../../../dashboard/pages/research/texts.ts";
import { Browser, newMember, PASSWORD, tokenOf } from "../../support/browser.ts";
import type { Reply } from "../../support/gateway.ts";
import { RESEARCH } from "../../support/models.ts";
import { type Dashboard, OPERATOR, startDashboard, type Visitor } from "../dashboard.ts";
import { closeSecret, createKey, newOrganization, rowsOf } from "../steps.ts";

const DAY_MS = 86_400_000;
const dayIn = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
/** For a research model without an entitlement. */
const REFUSALS = {
  standard: [403, "scope_not_permitted"],
  research: [403, "research_entitlement_required"],
};
const UNTIL = dayIn(60);

interface Answer {
  gateway: { cost: { customer_charge_usd: number } };
  error: { code: string };
}

// The API's tests cover the rules on SQLite.
describe.each(["postgres"] as const)("on %s", (store) => {
  let dashboard: Dashboard;
  let org: string;
  let rita: Visitor;
  let root: Visitor;
  const secrets: Record<string, string> = {};

  beforeAll(async () => {
    dashboard = await startDashboard({ store });
    org = await newOrganization(dashboard, "Lab");
    const at = { org, role: "developer", email: "rita@example.com" } as const;
    await newMember(dashboard.root, dashboard.gateway, at);
    [rita, root] = await Promise.all([dashboard.visitor(at.email), dashboard.visitor(OPERATOR)]);
  });
  afterAll(() => dashboard.stop());

  async function ask(visitor: Visitor, project: string): Promise<void> {
    const { page } = visitor;
    await visitor.open(path.organization(org, "research"));
    await page.getByRole("button", { name: words.ask }).first().click();
    const dialog = page.getByRole("dialog", { name: words.ask });
    await dialog.getByLabel(words.model, { exact: true }).first().click();
    await page.getByRole("option", { name: RESEARCH.model }).click();
    await dialog.getByLabel(words.project).fill(project);
    await dialog.getByLabel(words.purpose).fill("Compare reasoning modes\nof small models");
    await dialog.getByLabel(words.until).fill(UNTIL);
    await dialog.getByRole("button", { name: words.ask }).click();
    await dialog.waitFor({ state: "hidden" });
  }

  const rowOf = (visitor: Visitor, table: string, project: string): Locator =>
    rowsOf(visitor, table).filter({ hasText: project });

  const complete = (secret: string | undefined): Promise<Reply<Answer>> =>
    dashboard.gateway.chat<Answer>(
      { organizationId: org, keyId: "", secret: secret ?? "" },
      { model: RESEARCH.model, messages: [{ role: "user", content: "Fold this" }], max_tokens: 16 },
    );

  const refusalOf = async (secret: string | undefined): Promise<unknown[]> => {
    const { status, json } = await complete(secret);
    return [status, json.error.code];
  };

  test("a researcher makes a standard and a research key; both are refused before an approval", async () => {
    await rita.open(path.organization(org, "keys"));
    for (const [scope, refusal] of Object.entries(REFUSALS)) {
      secrets[scope] = await createKey(rita, {
        name: `A ${scope} key`,
        scope: scope as keyof typeof REFUSALS,
      });
      await closeSecret(rita);
      expect(await refusalOf(secrets[scope])).toEqual(refusal);
    }
  });

  test("requesting shows the request with its desired end date, undecided", async () => {
    await ask(rita, "Grasping");
    const text = await rowOf(rita, pageNames.research, "Grasping").innerText();
    for (const part of ["requested", "rita", words.undecided, words.wanted, formatDay(UNTIL)])
      expect(text).toContain(part);
  });

  test("another person approves on the entitlements page", async () => {
    await root.open(path.operator("entitlements"));
    const row = rowOf(root, operatorPageNames.entitlements, "Grasping");
    expect(await row.innerText()).toContain("Compare reasoning modes of small models");
    await row.getByRole("button", { name: office.approve }).click();
    const dialog = root.page.getByRole("dialog");
    expect(await dialog.getByLabel(office.expires).inputValue()).toBe(UNTIL);
    await dialog.getByLabel(office.note).fill("one paper");
    await dialog.getByRole("button", { name: office.approve }).click();
    await dialog.waitFor({ state: "hidden" });
    await row.getByText("active", { exact: true }).waitFor();
  });

  test("the research key is answered, the standard key still is not; state, end and spend are shown", async () => {
    const { status, json } = await complete(secrets["research"]);
    expect(status).toBe(200);
    expect(await refusalOf(secrets["standard"])).toEqual(REFUSALS.standard);
    await rita.open(path.organization(org, "research"));
    const row = rowOf(rita, pageNames.research, "Grasping");
    const text = await row.innerText();
    for (const part of ["active", words.decisions.active("Root"), "one paper", formatDay(UNTIL), "live"])
      expect(text).toContain(part);
    const charge = exactMoney(json.gateway.cost.customer_charge_usd.toFixed(9));
    expect(await row.getByTitle(charge, { exact: true }).count()).toBe(1);
  });

  test("who asked cannot approve the own question: no button, and the server refuses; another operator can", async () => {
    const { gateway } = dashboard;
    const invited = await dashboard.root.app(
      "POST /operator/organizations/{org}/invitations",
      { org },
      { email: OPERATOR, role: "admin" },
    );
    await dashboard.root.app("POST /invitations/accept", {}, { token: tokenOf(invited.link) });
    await ask(root, "Own wish");
    await root.open(path.operator("entitlements"));
    const own = rowOf(root, operatorPageNames.entitlements, "Own wish");
    expect(await own.innerText()).toContain(office.notYours);
    expect(await own.getByRole("button").count()).toBe(0);
    const [asked] = (
      await dashboard.root.app("GET /operator/entitlements", {}, undefined, "?state=requested")
    ).data;
    const tried = await dashboard.root.try(
      "POST /operator/entitlements/{entitlement}/approve",
      { entitlement: asked?.id ?? "" },
      { expires: dayIn(30) },
    );
    expect([tried.status, tried.json.error.code]).toEqual([403, "second_person_required"]);

    const { link } = await dashboard.root.app("POST /operator/people", {}, { email: "second@example.com" });
    const account = { name: "Second", password: PASSWORD };
    await new Browser(gateway.url).app("POST /invitations/accept", {}, { token: tokenOf(link), account });
    const second = await dashboard.visitor("second@example.com");
    await second.open(path.operator("entitlements"));
    const row = rowOf(second, operatorPageNames.entitlements, "Own wish");
    await row.getByRole("button", { name: office.decline }).click();
    const dialog = second.page.getByRole("dialog");
    await dialog.getByLabel(office.reason).fill("not now");
    await dialog.getByRole("button", { name: office.decline }).click();
    await row.getByText("declined", { exact: true }).waitFor();
    expect(second.complained()).toEqual([]);
    await second.leave();
  });

  test("a revoked entitlement refuses the research key on its next request", async () => {
    await root.open(path.operator("entitlements"));
    const row = rowOf(root, operatorPageNames.entitlements, "Grasping");
    await row.getByRole("button", { name: office.revoke }).click();
    const dialog = root.page.getByRole("dialog");
    await dialog.getByLabel(office.reason).fill("the paper is out");
    await dialog.getByLabel(dialogTexts.typeName).fill("Grasping");
    await dialog.getByRole("button", { name: office.revoke }).click();
    await dialog.waitFor({ state: "hidden" });
    expect(await refusalOf(secrets["research"])).toEqual(REFUSALS.research);
    await rita.open(path.organization(org, "research"));
    const text = await rowOf(rita, pageNames.research, "Grasping").innerText();
    for (const part of ["revoked", "the paper is out"]) expect(text).toContain(part);
    await dashboard.gateway.assertSound();
    expect([rita.complained(), root.complained()]).toEqual([[], []]);
  });
});
