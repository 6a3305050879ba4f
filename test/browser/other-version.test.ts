// Page files that the gateway does not have: it was updated since the page was loaded, or the page came from another
// gateway.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { pageNames, shellTexts, stateTexts } from "../../dashboard/components/texts.ts";
import { path } from "../../dashboard/path-builder.ts";
import { waitFor } from "../support/wait.ts";
import type { Dashboard } from "./dashboard.ts";
import { type Seeded, startSeeded } from "./fixture.ts";

const MISSING = /status of 404|dynamically imported module|MIME type/;
/** The code of pages and their parts, which the main module loads on demand. */
const PARTS = /\/assets\/(?!index-|other-version)[\w-]+\.js$/;

let dashboard: Dashboard;
let seeded: Seeded;

beforeAll(async () => {
  ({ dashboard, seeded } = await startSeeded());
});
afterAll(() => dashboard.stop());

/** Makes that many requests for such files fail, and counts them. */
async function lacking(page: Page, files: string, times: number): Promise<() => number> {
  let asked = 0;
  await page.route(files, async (route) => {
    asked += 1;
    if (asked <= times) await route.fulfill({ status: 404, contentType: "application/json", body: "{}" });
    else await route.continue();
  });
  return () => asked;
}

/** The one module that the page names; it loads everything else. */
async function mainModule(page: Page): Promise<string> {
  const src = await page.evaluate<string>(`document.querySelector("script[type=module]").src`);
  return src.slice(src.lastIndexOf("/"));
}

test("a page whose module or style is of another version reloads until it works", async () => {
  const visitor = await dashboard.visitor(seeded.owner);
  const { page } = visitor;
  const billing = path.organization(seeded.org, "billing");
  await visitor.open(billing);
  for (const files of [`**${await mainModule(page)}`, "**/assets/*.css"]) {
    const asked = await lacking(page, files, 2);
    await page.reload();
    await waitFor(async () => asked() > 2, "a try that finds it");
    await visitor.arrived(pageNames.billing);
    expect(
      await page.evaluate<boolean>(`document.querySelector("link[rel=stylesheet]").sheet !== null`),
    ).toBe(true);
    await page.unrouteAll();
    await page.evaluate("sessionStorage.clear()");
  }
  expect(visitor.complained({ about: MISSING })).toEqual([]);
});

test("if that takes long, the page says so, and works once the files are there", async () => {
  const visitor = await dashboard.visitor(seeded.owner);
  const { page } = visitor;
  await visitor.open(path.organization(seeded.org, "billing"));
  await lacking(page, `**${await mainModule(page)}`, Number.MAX_SAFE_INTEGER);
  await page.reload();
  await page
    .getByRole("status")
    .getByText(/^The dashboard did not load\./)
    .waitFor();
  await page.unrouteAll();
  await visitor.arrived(pageNames.billing);
  expect(visitor.complained({ about: MISSING })).toEqual([]);
});

test("a page, its chart or the palette, whose code the gateway does not have, works after a reload", async () => {
  const visitor = await dashboard.visitor(seeded.owner);
  const { page } = visitor;
  await visitor.open(path.organization(seeded.org, "billing"));
  let lacked = 0;
  let loadsAnew = false;
  page.on("request", (request) => void (loadsAnew ||= request.isNavigationRequest()));
  await page.route(PARTS, (route) => {
    if (loadsAnew) return route.continue();
    lacked += 1;
    return route.fulfill({ status: 404, contentType: "application/json", body: "{}" });
  });
  await page.getByRole("link", { name: pageNames.usage }).click();
  await visitor.arrived(pageNames.usage);
  await page.locator(".chart .recharts-surface").first().waitFor();
  expect(lacked).toBeGreaterThan(0);

  // It has four attempts of its own: the part before has reloaded, too.
  await page.evaluate("sessionStorage.clear()");
  // The browser asks once for a module while the page is there.
  const asked = await lacking(page, "**/assets/palette-*.js", 1);
  // Waited for from before the click: it may load anew before the click has ended.
  await Promise.all([page.waitForEvent("load"), page.getByRole("button", { name: shellTexts.find }).click()]);
  await page.getByRole("button", { name: shellTexts.find }).click();
  await page.getByRole("dialog").waitFor();
  expect(asked()).toBe(2);
  expect(visitor.complained({ about: MISSING })).toEqual([]);
});

test("a page whose code is lost on its way while it starts is loaded again", async () => {
  const visitor = await dashboard.visitor(seeded.owner);
  const { page } = visitor;
  let lost = 0;
  await page.route(PARTS, async (route) => {
    lost += 1;
    if (lost === 1) await route.abort("connectionreset");
    else await route.continue();
  });
  await page.goto(dashboard.gateway.url + path.organization(seeded.org, "billing"));
  await visitor.arrived(pageNames.billing);
  expect(lost).toBeGreaterThan(1);
  expect(visitor.complained({ about: /ERR_CONNECTION_RESET|dynamically imported module/ })).toEqual([]);
});

/** The page's own request for itself gets one with another module name; normal loads are unchanged. */
const updated = (page: Page) =>
  page.route(
    (url) => url.pathname === "/",
    (route) =>
      route.request().resourceType() === "fetch"
        ? route.fulfill({
            contentType: "text/html",
            body: `<script type="module" src="/another.js"></script>`,
          })
        : route.continue(),
  );

test("a page that fails by itself reports it at once; it reloads only if the gateway has another version", async () => {
  const visitor = await dashboard.visitor(seeded.owner);
  const { page } = visitor;
  let loads = 0;
  page.on("load", () => void (loads += 1));
  await page.route("**/orgs/*/billing", (route) => route.fulfill({ json: {} }));
  await page.goto(dashboard.gateway.url + path.organization(seeded.org, "billing"));
  const said = page.getByRole("alert", { name: stateTexts.failed });
  await said.getByRole("button", { name: stateTexts.retry }).waitFor();
  expect(loads).toBe(1);
  await page.unrouteAll();
  await said.getByRole("button", { name: stateTexts.retry }).click();
  await visitor.arrived(pageNames.billing);
  expect(visitor.complained({ about: /undefined/ })).toEqual([]);
});

test("after an answer in an unknown shape the page reloads, and reports it if that does not help", async () => {
  const visitor = await dashboard.visitor(seeded.owner);
  const { page } = visitor;
  const answered = async (status: number, body: object, times: number): Promise<void> => {
    await page.unrouteAll();
    await updated(page);
    await page.route("**/orgs/*/billing", (route) => route.fulfill({ status, json: body }), { times });
  };
  await answered(200, {}, 1);
  await visitor.open(path.organization(seeded.org, "billing"));
  await visitor.arrived(pageNames.billing);

  const [always, triedMs] = [Number.MAX_SAFE_INTEGER, Date.now()];
  await page.evaluate(`sessionStorage.setItem("tollgate.anew", "${Array(4).fill(triedMs).join()}")`);
  const said = page.getByRole("alert", { name: stateTexts.otherVersion });
  await answered(200, {}, always);
  await page.reload();
  await said.getByRole("button", { name: stateTexts.anew }).waitFor();
  await answered(404, { error: { code: "unknown_url", message: "There is nothing at this URL." } }, always);
  await page.reload();
  await said.getByText("unknown_url").waitFor();
  expect(visitor.complained({ about: /status of 404|undefined/ })).toEqual([]);
});
