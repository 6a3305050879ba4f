// Pictures of every page, wide and narrow, for docs/screenshots/: `./tollgate-bun test/browser/screenshots.ts`.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { OPERATOR_PAGES, ORGANIZATION_PAGES, path } from "../../dashboard/path-builder.ts";
import { texts } from "../../dashboard/texts.ts";
import { type Dashboard, DESKTOP, OPERATOR, PHONE, startDashboard } from "./dashboard.ts";
import { furnish } from "./furnish.ts";

/** Pages that show something only after a click. */
const BEFORE: Record<string, (page: Page) => Promise<void>> = {
  playground: async (page) => {
    await page.getByLabel(texts.playground.message, { exact: true }).fill("What is a toll gate?");
    await page.getByText(texts.playground.isHeld).waitFor();
    await page.getByRole("button", { name: texts.playground.send, exact: true }).click();
    await page.getByText(texts.answer.phases.settled, { exact: true }).waitFor();
  },
  "operator-ledger": async (page) => {
    await page.getByRole("button", { name: texts.operatorLedger.run }).click();
    await page.getByText(texts.operatorLedger.ok).waitFor();
  },
};

const folder = join(import.meta.dir, "../../docs/screenshots");

async function picture(
  dashboard: Dashboard,
  email: string,
  pages: readonly [string, string][],
): Promise<void> {
  for (const [kind, size] of [
    ["desktop", DESKTOP],
    ["phone", PHONE],
  ] as const) {
    const visitor = await dashboard.visitor(email, size);
    await visitor.scheme(kind === "phone" ? "dark" : "light");
    for (const [name, address] of pages) {
      await visitor.open(address);
      await BEFORE[name]?.(visitor.page);
      await visitor.page.screenshot({ path: join(folder, `${name}-${kind}.png`) });
      console.log(`${name}-${kind}.png`);
    }
    await visitor.leave();
  }
}

const dashboard = await startDashboard();
try {
  mkdirSync(folder, { recursive: true });
  const { org, owner } = await furnish(dashboard);
  await picture(
    dashboard,
    owner,
    ORGANIZATION_PAGES.map((page) => [page, path.organization(org, page)]),
  );
  await picture(
    dashboard,
    OPERATOR,
    OPERATOR_PAGES.map((page) => [`operator-${page}`, path.operator(page)]),
  );
} finally {
  await dashboard.stop();
}
process.exit(0);
