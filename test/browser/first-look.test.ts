// A gateway whose only model is a custom one, on its first day: the snippets name that model, the overview predicts
// no centuries, and a request shows its timeline.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { path } from "../../dashboard/path-builder.ts";
import { activityTexts } from "../../dashboard/pages/activity/texts.ts";
import { answerTexts, secretTexts } from "../../dashboard/components/texts.ts";
import { overviewTexts } from "../../dashboard/pages/overview/texts.ts";
import { welcomeTexts } from "../../dashboard/pages/welcome/texts.ts";
import { newMember } from "../support/browser.ts";
import { PLAIN } from "../support/models.ts";
import { type Dashboard, startDashboard, type Visitor } from "./dashboard.ts";

let dashboard: Dashboard;
let visitor: Visitor;
let org: string;

beforeAll(async () => {
  dashboard = await startDashboard({ models: [PLAIN] });
  const { root, gateway } = dashboard;
  ({ id: org } = await root.app("POST /operator/organizations", {}, { name: "Acme" }));
  await newMember(root, gateway, { org, role: "owner", email: "olga@example.com" });
  const credits = { org, kind: "purchase", amount_usd: "500", reference: "one", reason: "test" };
  await root.app("POST /operator/credits", {}, credits);
  visitor = await dashboard.visitor("olga@example.com");
});
afterAll(() => dashboard.stop());

test("an organization without credits is told to add some before its first request, at the welcome and on the overview", async () => {
  const poor = await dashboard.root.app("POST /operator/organizations", {}, { name: "Basalt" });
  await newMember(dashboard.root, dashboard.gateway, {
    org: poor.id,
    role: "owner",
    email: "omar@example.com",
  });
  const omar = await dashboard.visitor("omar@example.com");
  await omar.open(path.welcome());
  await omar.page.getByRole("button", { name: welcomeTexts.createKey }).click();
  await omar.page.getByLabel(secretTexts.stored).check();
  await omar.page.getByRole("button", { name: secretTexts.done, exact: true }).click();
  await omar.page.getByText(welcomeTexts.needsCredits).waitFor();
  await omar.open(path.organization(poor.id));
  const next = omar.page.getByText(overviewTexts.next, { exact: true }).locator("..");
  const { credits, first_request, invited } = overviewTexts.steps;
  expect(await next.getByRole("link").allInnerTexts()).toEqual([credits, first_request, invited]);
  await omar.leave();
});

test("the first run names a model that can be called, and its test request is answered", async () => {
  await visitor.open(path.welcome());
  await visitor.page.getByRole("button", { name: welcomeTexts.createKey }).click();
  const snippet = await visitor.page.getByRole("tabpanel", { name: "curl" }).innerText();
  expect(snippet).toContain(`"model":"${PLAIN.model}"`);
  await visitor.page.getByLabel(secretTexts.stored).check();
  await visitor.page.getByRole("button", { name: secretTexts.done, exact: true }).click();
  await visitor.page.getByRole("button", { name: welcomeTexts.send }).click();
  await visitor.page.getByText(answerTexts.phases.settled, { exact: true }).waitFor();
});

test("the forecast from a first day is not given in centuries", async () => {
  await visitor.open(path.organization(org));
  const tile = visitor.page.getByText(overviewTexts.daysLeft, { exact: true }).locator("..");
  expect(await tile.innerText()).toContain(overviewTexts.longer);
});

test("a request shows its timeline from the arrival to the last part, in order", async () => {
  await visitor.open(path.organization(org, "activity"));
  await visitor.page.getByRole("row").nth(1).getByRole("link").first().click();
  const timeline = visitor.page.getByRole("region", { name: activityTexts.timeline });
  await timeline.waitFor();
  const rows = await timeline.getByRole("row").allInnerTexts();
  const { steps } = activityTexts;
  expect(rows.map((row) => row.split("\t")[0])).toEqual([
    steps.held,
    steps.call(1),
    steps.first,
    steps.last.settled,
  ]);
  const spans = rows.map((row) => {
    const [, figure = "", unit] = /\t([\d.]+) (ms|s)$/.exec(row) ?? [];
    return Number(figure) * (unit === "s" ? 1000 : 1);
  });
  expect(spans).toEqual(spans.toSorted((a, b) => a - b));
  expect(await visitor.axe()).toEqual([]);
  expect(visitor.complained()).toEqual([]);
});
