// Files of the page that the gateway has not: it was updated since the page was loaded, or the page came from another one.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { pageNames, shellTexts, stateTexts } from "../../dashboard/components/texts.ts";
import { path } from "../../dashboard/path-builder.ts";
import { waitFor } from "../support/wait.ts";
import type { Dashboard } from "./dashboard.ts";
import { type Seeded, startSeeded } from "./fixture.ts";

const MISSING = /status of 404|dynamically imported module|MIME type/;

let dashboard: Dashboard;
let seeded: Seeded;

beforeAll(async () => {
  ({ dashboard, seeded } = await startSeeded());
});
afterAll(() => dashboard.stop());

/** So many requests for such files find none; counts them. */
async function lacking(page: Page, files: string, times: number): Promise<() => number> {
  let asked = 0;
  await page.route(files, async (route) => {
    asked += 1;
    if (asked <= times) await route.fulfill({ status: 404, contentType: "application/json", body: "{}" });
    else await route.continue();
  });
  return () => asked;
}

/** The one module that the page names; all else is loaded by it. */
async function mainModule(page: Page): Promise<string> {
  const src = await page.evaluate<string>(`document.querySelector("script[type=module]").src`);
  return src.slice(src.lastIndexOf("/"));
}

test("a page whose module or style is of another version comes anew until it is there", async () => {
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

test("where it does not come for long the page says so, and is there once the files are", async () => {
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

test("a page, its chart or the palette, whose code the gateway has not, is there after the page came anew", async () => {
  const visitor = await dashboard.visitor(seeded.owner);
  const { page } = visitor;
  await visitor.open(path.organization(seeded.org, "billing"));
  const main = await mainModule(page);
  const others = `**/assets/!(*${main.slice(1)}|other-version.js)`;
  await page.route(others, (route) =>
    route.request().url().endsWith(".js")
      ? route.fulfill({ status: 404, contentType: "application/json", body: "{}" })
      : route.continue(),
  );
  page.once("load", () => void page.unrouteAll());
  await page.getByRole("link", { name: pageNames.usage }).click();
  await visitor.arrived(pageNames.usage);
  await page.locator(".chart .recharts-surface").first().waitFor();

  // Of its own four times: the part before has come anew, too.
  await page.evaluate("sessionStorage.clear()");
  await lacking(page, "**/assets/palette-*.js", 2);
  await page.getByRole("button", { name: shellTexts.find }).click();
  await page.waitForEvent("load");
  await page.getByRole("button", { name: shellTexts.find }).click();
  await page.getByRole("dialog").waitFor();
  expect(visitor.complained({ about: MISSING })).toEqual([]);
});

/** Who asks for the page by itself is told of one whose module has another name; loads are as ever. */
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

test("a page that falls by itself says so at once; only where the gateway has another one it comes anew", async () => {
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

test("where an answer has another shape than the page knows it comes anew, and says so where that does not help", async () => {
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
