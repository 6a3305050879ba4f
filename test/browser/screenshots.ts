// Pictures of every page, wide and narrow, for docs/screenshots/: `./tollgate-bun test/browser/screenshots.ts`.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { OPERATOR_PAGES, ORGANIZATION_PAGES, path } from "../../dashboard/path-builder.ts";
import { type Dashboard, DESKTOP, OPERATOR, PHONE, startDashboard } from "./dashboard.ts";
import { furnish } from "./furnish.ts";

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
