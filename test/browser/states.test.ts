// Pages that cannot show their content: nothing there yet, refused, no answer, no answer any more.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { ORGANIZATION_PAGES, path } from "../../dashboard/path-builder.ts";
import { answerTexts, pageNames, stateTexts } from "../../dashboard/components/texts.ts";
import { newMember } from "../support/browser.ts";
import { edit } from "../support/versions.ts";
import { waitFor } from "../support/wait.ts";
import { type Dashboard, type Visitor } from "./dashboard.ts";
import { type Seeded, startSeeded } from "./fixture.ts";
import { inspect } from "./inspect.ts";
import { rowsOf } from "./steps.ts";

const VIEWER = "vera@example.com";
const NEW = "nina@example.com";
const AWAY = /ERR_FAILED|ERR_INTERNET|status of 50/;

let dashboard: Dashboard;
let seeded: Seeded;
let empty: string;
let visitor: Visitor;
let newcomer: Visitor | undefined;

beforeAll(async () => {
  ({ dashboard, seeded, visitor } = await startSeeded());
  const { root, gateway } = dashboard;
  await newMember(root, gateway, { org: seeded.org, role: "viewer", email: VIEWER });
  empty = (await root.app("POST /operator/organizations", {}, { name: "Empty" })).id;
  await newMember(root, gateway, { org: empty, role: "owner", email: NEW });
});
afterAll(() => dashboard.stop());

// The first three mostly wait for a page to retry, each in its own browser: they run concurrently.
test.concurrent("figures stay while the gateway is away, say how old they are, and come back by themselves", async () => {
  const visitor = await dashboard.visitor(seeded.owner);
  const { page } = visitor;
  await visitor.open(path.organization(seeded.org, "billing"));
  const available = page.getByText("$259.99").first();
  await available.waitFor();
  await page.route("**/app/v1/**", (route) => route.abort());
  const stale = page.getByText(/^Updated \d+(\.\d)? s ago\.$/).first();
  await stale.waitFor();
  expect(await available.isVisible()).toBe(true);
  expect(await page.getByRole("alert").count()).toBe(0);
  const line = page.getByRole("status").getByText(/^The gateway has not answered since /);
  await line.waitFor();
  // The frame says it once for all of them.
  expect(await page.getByText(stateTexts.reconnecting, { exact: true }).count()).toBe(0);
  await inspect(visitor, "stale figures", { about: AWAY });
  // Another page, whose code cannot be loaded either: the frame stays, and the page opens by itself later.
  await page.route("**/*.js", (route) => route.abort());
  await page.getByRole("link", { name: pageNames.team }).click();
  await page.waitForTimeout(500);
  expect(await page.getByRole("navigation").isVisible()).toBe(true);
  await page.unrouteAll();
  await visitor.arrived(pageNames.team);
  await line.waitFor({ state: "detached" });
  await page.goBack();
  await visitor.arrived(pageNames.billing);
  visitor.complained();
  await stale.waitFor({ state: "detached" });
  await visitor.leave();
}, 120_000);

test.concurrent("one call that never gets an answer does not cause all others to be repeated endlessly", async () => {
  const visitor = await dashboard.visitor(seeded.owner);
  const { page } = visitor;
  const asked: string[] = [];
  await page.route("**/app/v1/**", async (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname.endsWith("/usage")) return await route.abort();
    asked.push(pathname);
    await route.continue();
  });
  await visitor.open(path.organization(seeded.org, "overview"));
  await waitFor(async () => asked.some((one) => one.endsWith("/overview")), "the page's other call");
  await page.waitForTimeout(10_000);
  expect(asked.filter((one) => one.endsWith("/overview")).length).toBeLessThanOrEqual(3);
  await page.unrouteAll();
  visitor.complained();
  await visitor.leave();
}, 120_000);

test.concurrent("a page that never arrived says so, with a way to try again", async () => {
  const visitor = await dashboard.visitor(seeded.owner);
  const { page } = visitor;
  await page.route(/\/app\/v1\/orgs\/[^/]+\/keys\?/, (route) =>
    route.fulfill({
      status: 500,
      contentType: "application/json",
      body: JSON.stringify({ error: { code: "internal_error", message: "No.", request_id: "req_1" } }),
    }),
  );
  await visitor.open(path.organization(seeded.org, "keys"));
  const alert = page.getByRole("alert");
  await alert.getByText("internal_error").waitFor();
  await inspect(visitor, "an error", { about: AWAY });
  await page.unrouteAll();
  await alert.getByRole("button", { name: stateTexts.retry }).click();
  await rowsOf(visitor, pageNames.keys).first().waitFor();
  await visitor.leave();
}, 120_000);

test("a page that a role may not see names the roles that may, and who has them", async () => {
  const viewer = await dashboard.visitor(VIEWER);
  await viewer.open(path.organization(seeded.org, "billing"));
  const alert = viewer.page.getByRole("alert").first();
  await alert.getByText(stateTexts.forbidden).waitFor();
  expect(await alert.innerText()).toMatch(/owner, admin, billing, operator\. Members who may: .+ \(owner\)/);
  await inspect(viewer, "forbidden", { about: /status of 403/ });
  await viewer.leave();
}, 120_000);

test("a refused request leads to the very key that reached its limit", async () => {
  const { page } = visitor;
  const { data } = await dashboard.root.app("GET /orgs/{org}/keys", { org: seeded.org });
  const batch = data.find(({ name }) => name === "Nightly batch")?.id ?? "";
  await edit(
    dashboard.root,
    "PATCH /orgs/{org}/keys/{key}",
    { org: seeded.org, key: batch },
    { limit_usd: "0.000000001" },
  );
  await refusedWith(batch);
  await visitor.open(`${path.organization(seeded.org, "activity")}?state=refused`);
  const row = rowsOf(visitor, pageNames.activity).filter({ hasText: "key_spend_limit_reached" }).first();
  await row.getByRole("link").first().click();
  const way = page.getByRole("dialog").getByRole("link", { name: answerTexts.next.key });
  expect(await way.getAttribute("href")).toBe(path.key(seeded.org, batch));
  await way.click();
  await page.waitForURL(({ pathname }) => pathname === path.key(seeded.org, batch));
  await visitor.arrived("Nightly batch");
}, 120_000);

/** As the playground sends it: refused because the key has reached its limit. */
async function refusedWith(key: string): Promise<void> {
  const { page } = visitor;
  const url = `${dashboard.gateway.url}/app/v1/orgs/${seeded.org}/playground`;
  const response = await page.request.post(url, {
    headers: { origin: dashboard.gateway.url },
    data: { key, request: { model: "plain-1", messages: [{ role: "user", content: "hello" }] } },
  });
  expect(response.status()).toBe(403);
}

for (const page of ORGANIZATION_PAGES.filter((one) => one !== "settings"))
  test(`a page with nothing on it: ${page}`, async () => {
    if (newcomer === undefined) {
      newcomer = await dashboard.visitor(NEW);
      await newcomer.open(path.organization(empty));
    }
    await newcomer.go(path.organization(empty, page), pageNames[page]);
    await inspect(newcomer, `empty: ${page}`);
  });
