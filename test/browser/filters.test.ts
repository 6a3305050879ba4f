// Filters and the address: typing is one request and no history entry; Back steps through views.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type OperatorPage, path } from "../../dashboard/path-builder.ts";
import { activityTexts } from "../../dashboard/pages/activity/texts.ts";
import { auditTexts } from "../../dashboard/pages/audit/texts.ts";
import { keysTexts } from "../../dashboard/pages/keys/texts.ts";
import { organizationsTexts } from "../../dashboard/pages/organizations/texts.ts";
import { activityStateNames, pageNames, pageTexts } from "../../dashboard/components/texts.ts";
import { type Dashboard, OPERATOR, type Visitor } from "./dashboard.ts";
import { reads, waitFor } from "../support/wait.ts";
import { type Seeded, startSeeded } from "./fixture.ts";
import { inspect } from "./inspect.ts";
import { rowsOf } from "./steps.ts";

const MINUTE_MS = 60_000;

let dashboard: Dashboard;
let seeded: Seeded;
let visitor: Visitor;

beforeAll(async () => {
  ({ dashboard, seeded, visitor } = await startSeeded());
});
afterAll(() => dashboard.stop());

test("a typed word is requested once, and Back leads to the view before it", async () => {
  const { page } = visitor;
  const words = activityTexts;
  await page.clock.install();
  await visitor.open(path.organization(seeded.org, "activity"));
  await page.getByRole("combobox", { name: words.state, exact: true }).click();
  await page.getByRole("option", { name: activityStateNames.settled }).click();
  await page.waitForURL(/state=settled/);
  const asked: string[] = [];
  page.on("request", (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname.endsWith("/activity")) asked.push(searchParams.get("find") ?? "");
  });
  const settled = await dashboard.root.app(
    "GET /orgs/{org}/activity",
    { org: seeded.org },
    undefined,
    "?state=settled&limit=1",
  );
  const id = settled.data[0]?.id ?? "";
  const steps = await page.evaluate<number>("history.length");
  // However slowly a machine types letter by letter, no pause is detected.
  await page.clock.pauseAt(Date.now() + MINUTE_MS);
  await page.getByLabel(words.find).pressSequentially(id);
  await page.clock.resume();
  await page.waitForURL(new RegExp(`find=${id}`));
  await waitFor(async () => (await rowsOf(visitor, pageNames.activity).count()) === 1, "one row");
  expect(asked.filter((find) => find !== "")).toEqual([id]);
  expect(await page.evaluate<number>("history.length")).toBe(steps);
  await page.goBack();
  await page.waitForURL((url) => url.search === "");
  await reads(() => page.getByLabel(words.find).inputValue(), "");
  expect(visitor.complained()).toEqual([]);
});

test("a word typed just before another filter is chosen is kept; no secret of a key gets into the address", async () => {
  const { page } = visitor;
  const words = keysTexts;
  await visitor.open(path.organization(seeded.org, "keys"));
  await page.getByLabel(words.search).pressSequentially("Night");
  await page.getByRole("combobox", { name: words.filterState }).click();
  await page.getByRole("option", { name: words.all }).click();
  await page.waitForURL(
    ({ searchParams }) => searchParams.get("search") === "Night" && searchParams.get("state") === "all",
  );
  await reads(() => rowsOf(visitor, pageNames.keys).count(), 1);
  const [key] = (await dashboard.root.app("GET /orgs/{org}/keys", { org: seeded.org })).data;
  await page.getByLabel(words.search).fill(`${key?.prefix}SECRETSECRET`);
  await page.waitForURL(({ searchParams }) => searchParams.get("search")?.startsWith("gw_sk_") === true);
  expect(new URL(page.url()).searchParams.get("search")).toBe(key?.prefix ?? "");
  await reads(() => rowsOf(visitor, pageNames.keys).count(), 1);
});

test("the operators' own searches are also one request and no history entry", async () => {
  const root = await dashboard.visitor(OPERATOR);
  const { page } = root;
  const asked: string[] = [];
  page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    if (/\/operator\/(organizations|audit)$/.test(pathname) && /search|target/.test(search))
      asked.push(search);
  });
  const type = async (place: OperatorPage, field: string, word: string): Promise<void> => {
    await root.open(path.operator(place));
    const steps = await page.evaluate<number>("history.length");
    await page.getByLabel(field, { exact: true }).pressSequentially(word, { delay: 5 });
    await page.waitForURL(({ search }) => search.endsWith(word));
    expect(await page.evaluate<number>("history.length")).toBe(steps);
  };
  await type("organizations", organizationsTexts.search, "globex");
  await type("audit", auditTexts.filters.target, "org_globex");
  await root.settled();
  expect(asked.map((search) => /(search|target)=\w+/.exec(search)?.[0])).toEqual([
    "search=globex",
    "target=org_globex",
  ]);
  expect(root.complained()).toEqual([]);
  await root.leave();
});

test("unknown values in the address are reported, and can be removed from it", async () => {
  const { page } = visitor;
  const said = page.getByRole("status").filter({ hasText: "which this page does not know" });
  const asked = [
    ["overview", { range: "9d" }],
    ["usage", { range: "24h", group_by: "colour", measure: "weight" }],
    ["activity", { state: "settle", from: "yesterday" }],
    ["keys", { scope: "everything" }],
    ["billing", { month: "2026-13", statement: "november", kind: "charge" }],
    ["audit", { from: "2026-02-xx" }],
  ] as const;
  for (const [name, query] of asked) {
    await visitor.open(`${path.organization(seeded.org, name)}?${String(new URLSearchParams(query))}`);
    await said.waitFor();
    const text = await said.innerText();
    const wrong = Object.entries(query).filter(([, value]) => value !== "24h" && value !== "charge");
    for (const [filter, value] of wrong) expect(text).toContain(`“${filter}=${value}”`);
    for (const right of ["24h", "charge"]) expect(text).not.toContain(`=${right}”`);
    // The same words on every page; each page is inspected elsewhere.
    if (name === "usage") await inspect(visitor, `filters that are none on ${name}`);
    await said.getByRole("button", { name: pageTexts.leaveOut }).click();
    await said.waitFor({ state: "detached" });
    const { searchParams } = new URL(page.url());
    expect(wrong.filter(([filter]) => searchParams.has(filter))).toEqual([]);
    expect([...searchParams.keys()].length).toBe(Object.keys(query).length - wrong.length);
  }
  await visitor.open(`${path.organization(seeded.org, "usage")}?range=9d`);
  await said.waitFor();
  await visitor.go(path.organization(seeded.org, "keys"), pageNames.keys);
  expect(await said.count()).toBe(0);
  expect(visitor.complained()).toEqual([]);
}, 120_000);
