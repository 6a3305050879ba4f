// Lists longer than a page: each shows its first rows and "Show more", and its search finds a row that is not shown.
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { operatorPageNames, pageNames, tableTexts } from "../../dashboard/components/texts.ts";
import { auditTexts } from "../../dashboard/pages/audit/texts.ts";
import { path } from "../../dashboard/path-builder.ts";
import { operatorEntitlementsTexts } from "../../dashboard/pages/operator/entitlements/texts.ts";
import { operatorLedgerTexts } from "../../dashboard/pages/operator/ledger/texts.ts";
import { operatorPeopleTexts } from "../../dashboard/pages/operator/people/texts.ts";
import { researchTexts } from "../../dashboard/pages/research/texts.ts";
import { waitFor } from "../support/wait.ts";
import { type Dashboard, OPERATOR, startDashboard, type Visitor } from "./dashboard.ts";
import { rowsOf } from "./steps.ts";

const ROWS = 60;
const NUMBERS = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})`;

let dashboard: Dashboard;
let root: Visitor;
let org: string;

beforeAll(async () => {
  dashboard = await startDashboard();
  org = (await dashboard.root.app("POST /operator/organizations", {}, { name: "Acme" })).id;
  root = await dashboard.visitor(OPERATOR);
  // Their rows are inserted into its file.
  const database = new Database(join(dashboard.gateway.dataDir, "tollgate.sqlite"));
  database.run("PRAGMA busy_timeout = 5000");
  database.run(`${NUMBERS} INSERT INTO entitlement (org_id, model, id, project, state, requested_by, created_at)
    SELECT '${org}', 'model-' || i, 'ent_m' || i, 'Project ' || i || '.', 'requested', 'usr_nobody', 1700000000000 + i FROM n`);
  database.run(`${NUMBERS} INSERT INTO management_key (id, name, prefix, digest, created_at)
    SELECT 'mk_m' || i, 'Script ' || i || '.', 'gw_mk_m' || i, zeroblob(32), 1700000000000 + i FROM n`);
  database.run(`${NUMBERS} INSERT INTO organization (org_id, name, created_at)
    SELECT 'org_m' || i, 'Customer ' || i, 1700000000000 + i FROM n`);
  database.run(`${NUMBERS} INSERT INTO org_balance (org_id, slot, available, held, debt, purchased, granted, spent, version, head_hash, stamped_at)
    SELECT 'org_m' || i, 0, 5, 0, 0, 0, 0, 0, 0, zeroblob(32), 0 FROM n`);
  database.close();
});
afterAll(() => dashboard.stop());

const shows = (rows: Locator, count: number): Promise<void> =>
  waitFor(async () => (await rows.count()) === count, `${count} rows`);

/** Loads the rest of the list, and finds a row of it by a search. */
async function loadsAndFinds(
  label: string,
  of: { rows: number; more: number; search?: string; typed?: string },
): Promise<void> {
  const rows = rowsOf(root, label);
  await shows(rows, of.rows);
  await root.page
    .getByRole("region", { name: label, exact: true })
    .locator("..")
    .getByText(tableTexts.more)
    .click();
  await shows(rows, of.more);
  expect(
    await root.page
      .getByRole("region", { name: label, exact: true })
      .locator("..")
      .getByText(tableTexts.more)
      .count(),
  ).toBe(0);
  if (of.search === undefined) return;
  await root.page.getByRole("textbox", { name: of.search }).fill(of.typed ?? "");
  await shows(rows, 1);
  expect(await rows.first().innerText()).toContain(of.typed ?? "");
}

test("an organization's entitlements", async () => {
  await root.open(path.organization(org, "research"));
  await loadsAndFinds(pageNames.research, {
    rows: 50,
    more: 60,
    search: researchTexts.search,
    typed: "Project 1.",
  });
});

test("while an emptied search loads, its field stays and keeps the focus", async () => {
  await root.open(`${path.organization(org, "research")}?search=nothing`);
  const field = root.page.getByRole("textbox", { name: researchTexts.search });
  await shows(rowsOf(root, pageNames.research), 0);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let held = false;
  await root.page.route(/\/research(\?|$)/, async (route) => {
    held ||= !route.request().url().includes("search=");
    await released;
    await route.continue();
  });
  await field.fill("");
  await waitFor(async () => held, "the list without a search");
  const focused = await root.page.evaluate<string | null>(
    "document.activeElement.getAttribute('placeholder')",
  );
  expect(focused).toBe(researchTexts.search);
  release();
  await shows(rowsOf(root, pageNames.research), 50);
  await root.page.unrouteAll({ behavior: "wait" });
});

test("entitlements to decide", async () => {
  await root.open(path.operator("entitlements"));
  await loadsAndFinds(operatorPageNames.entitlements, {
    rows: 50,
    more: 60,
    search: operatorEntitlementsTexts.search,
    typed: "Project 59.",
  });
});

test("management keys", async () => {
  await root.open(path.operator("people"));
  // With the one of the installation.
  await loadsAndFinds(operatorPeopleTexts.keys, {
    rows: 50,
    more: 61,
    search: operatorPeopleTexts.searchKeys,
    typed: "Script 1.",
  });
});

test("any management key can be chosen for the audit log, and its name stays shown", async () => {
  await root.open(path.operator("audit"));
  const actor = root.page.getByRole("combobox", { name: auditTexts.filters.actor });
  await actor.click();
  await actor.fill("Script 1.");
  await root.page.getByRole("option", { name: "Script 1." }).click();
  await waitFor(async () => root.page.url().includes("mk_m1"), "the key in the address");
  await root.page.reload();
  await waitFor(async () => (await actor.inputValue()) === "Script 1.", "the key's name");
});

test("findings of an audit, and the organizations that it stops", async () => {
  await root.open(path.operator("ledger"));
  await root.page.getByRole("button", { name: operatorLedgerTexts.run }).click();
  const findings = rowsOf(root, operatorLedgerTexts.violations);
  await shows(findings, 50);
  await loadsAndFinds(operatorLedgerTexts.stopped.title, { rows: 50, more: 60 });
});
