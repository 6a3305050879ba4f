// Measures how every page loads and responds on generated data, against the dashboard's budgets
// (docs/design/dashboard.md §13): largest paint, layout shift, click latency. `./tollgate-bun test/browser/budgets.ts
// [REQUESTS] [KEYS]`; exits with 1 if a budget is exceeded. `--sources` names what moved.
import { OPERATOR_PAGES, ORGANIZATION_PAGES, path } from "../../dashboard/path-builder.ts";
import { sharedBrowser } from "./chromium.ts";
import { DESKTOP, Visitor } from "./dashboard.ts";
import { OBSERVED, type Seen, seenBy } from "./observed.ts";
import { startSeeded } from "./seeded.ts";

const BUDGET = { paintMs: 1000, moved: 0.1, clickMs: 200 };
/** Anything later than this after the page has settled does not belong to its loading. */
const REST_MS = 1500;
/** The second round measures a returning visitor: bundles are loaded and the store's pages are in memory. */
const ROUNDS = 2;

async function measured(visitor: Visitor, address: string): Promise<Seen> {
  await visitor.open(address);
  await visitor.page.waitForTimeout(REST_MS);
  const row = visitor.page.locator("main tbody tr a, main tbody tr button").first();
  if ((await row.count()) > 0) {
    await row.click();
    await visitor.page.waitForTimeout(REST_MS);
  }
  return seenBy(visitor.page);
}

const [count = "12000", keys = "0"] = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const seeded = await startSeeded(Number(count), Number(keys));
let failed = false;
try {
  const browser = await sharedBrowser();
  for (const [email, pages] of [
    [seeded.owner, ORGANIZATION_PAGES.map((page) => path.organization(seeded.org, page))],
    [seeded.operator, OPERATOR_PAGES.map((page) => path.operator(page))],
  ] as const) {
    const visitor = await Visitor.come(browser, seeded.url, DESKTOP);
    await visitor.beSignedIn(email);
    await visitor.page.addInitScript(OBSERVED);
    for (const address of pages) {
      let seen: Seen = { paintMs: 0, moved: 0, clickMs: 0, sources: [] };
      for (let round = 0; round < ROUNDS; round += 1) seen = await measured(visitor, address);
      const passed = (Object.keys(BUDGET) as (keyof typeof BUDGET)[]).filter(
        (name) => seen[name] > BUDGET[name],
      );
      failed ||= passed.length > 0;
      console.log(
        `${passed.length === 0 ? "ok  " : "OVER"} ${address.replace(seeded.org, "ORG").padEnd(34)} paint ${String(Math.round(seen.paintMs)).padStart(5)} ms  moved ${seen.moved.toFixed(3)}  click ${String(Math.round(seen.clickMs)).padStart(4)} ms`,
      );
      if (process.argv.includes("--sources"))
        for (const source of seen.sources) console.log(`       ${source}`);
    }
    await visitor.leave();
  }
} finally {
  await seeded.stop();
}
process.exit(failed ? 1 : 0);
