// The audit of the ledger as an operator sees it: the time of each invariant, whose books are wrong with both figures
// and links, which holds are past their deadline, and the report as a file.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { path } from "../../dashboard/path-builder.ts";
import { operatorHealthTexts } from "../../dashboard/pages/operator/health/texts.ts";
import { operatorLedgerTexts as words } from "../../dashboard/pages/operator/ledger/texts.ts";
import { type Customer, hello } from "../support/gateway.ts";
import { waitFor } from "../support/wait.ts";
import { type Dashboard, OPERATOR, startDashboard, type Visitor } from "./dashboard.ts";
import { inspect } from "./inspect.ts";
import { newOrganization, rowsOf } from "./steps.ts";

const INVARIANT = "I12 paid in - spent = available + held - debt";

let dashboard: Dashboard;
let root: Visitor;
let customer: Customer;
let name: string;

beforeAll(async () => {
  dashboard = await startDashboard();
  customer = await dashboard.gateway.customer();
  const { data } = await dashboard.root.app("GET /operator/organizations");
  name = data.find(({ id }) => id === customer.organizationId)?.name ?? "";
  root = await dashboard.visitor(OPERATOR);
});
afterAll(() => dashboard.stop());

async function run(): Promise<void> {
  await root.open(path.operator("ledger"));
  await root.page.getByRole("button", { name: words.run }).click();
  await root.page.getByRole("button", { name: words.again }).waitFor();
}

test("a hold past its deadline is listed with its organization, its request and its amount", async () => {
  const { gateway } = dashboard;
  gateway.simulator.behave({ behaviour: { hang: true } });
  const leaving = new AbortController();
  const asked = fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${customer.secret}`, "content-type": "application/json" },
    body: JSON.stringify(hello()),
    signal: leaving.signal,
  }).catch(() => null);
  const running = async () => (await dashboard.root.app("GET /operator/health")).running;
  await waitFor(async () => (await running()) === 1, "a running request");
  const late = String(Date.now() - 5000);
  await gateway.tamper("UPDATE request SET deadline_at = ?1 WHERE state = 'dispatched'", late);
  await run();
  const rows = rowsOf(root, words.lateHolds);
  expect(await rows.count()).toBe(1);
  expect(await rows.first().innerText()).toMatch(new RegExp(`${name}[\\s\\S]*req_[\\s\\S]*\\$0\\.\\d+`));
  await inspect(root, "a hold past its deadline");
  leaving.abort();
  await asked;
  gateway.simulator.behave({ behaviour: {} });
  await waitFor(async () => (await running()) === 0, "its end");
});

test("each invariant shows the time it took", async () => {
  await run();
  const rows = await rowsOf(root, words.invariants).allInnerTexts();
  expect(rows.length).toBeGreaterThan(10);
  for (const row of rows) expect(row).toMatch(/\d+ m?s$/);
  const { checked, took_ms, ms } = await dashboard.root.app("POST /operator/ledger/audit");
  expect(Object.keys(took_ms).toSorted()).toEqual(Object.keys(checked).toSorted());
  expect(Object.values(took_ms).reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(ms + 1);
});

test("wrong books: both figures, the organization, links to it, and the file", async () => {
  const { gateway } = dashboard;
  await gateway.tamper("UPDATE org_balance SET spent = spent + 1 WHERE org_id = ?1", customer.organizationId);
  await run();
  const wrong = rowsOf(root, words.violations).filter({ hasText: INVARIANT });
  expect(await wrong.innerText()).toContain(name);
  expect(await wrong.getByRole("link", { name: words.statement }).getAttribute("href")).toBe(
    path.organization(customer.organizationId, "billing"),
  );
  await inspect(root, "a broken invariant");
  const [file] = await Promise.all([
    root.page.waitForEvent("download"),
    root.page.getByRole("button", { name: words.csv }).click(),
  ]);
  expect(file.suggestedFilename()).toStartWith("ledger-audit-");
  const lines = readFileSync(await file.path(), "utf8")
    .trim()
    .split("\r\n");
  expect(lines[0]).toBe("invariant,result,rows_checked,ms,org,request_id,expected,found");
  expect(lines.filter((line) => line.startsWith(`${INVARIANT},broken,`))).toHaveLength(1);
  expect(lines.filter((line) => line.startsWith(`${INVARIANT},violation,`))).toEqual([
    expect.stringContaining(customer.organizationId),
  ]);
  await gateway.tamper("UPDATE org_balance SET spent = spent - 1 WHERE org_id = ?1", customer.organizationId);
  await run();
  await root.page.getByText(words.ok).waitFor();
  expect(root.complained()).toEqual([]);
});

test("a request in quarantine: what is damaged, and an operator charges part of its hold", async () => {
  const { gateway } = dashboard;
  const other = await gateway.customer();
  gateway.simulator.behave({ behaviour: { hang: true } });
  const leaving = new AbortController();
  const asked = fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${other.secret}`, "content-type": "application/json" },
    body: JSON.stringify(hello()),
    signal: leaving.signal,
  }).catch(() => null);
  const health = () => dashboard.root.app("GET /operator/health");
  await waitFor(async () => (await health()).running === 1, "a running request");
  await gateway.tamper("UPDATE request SET attempts = ?1, deadline_at = 1 WHERE state = 'dispatched'", "[{");
  await waitFor(async () => (await health()).quarantined === 1, "the quarantine");
  await root.open(path.operator("health"));
  await root.page.getByText(operatorHealthTexts.quarantined).waitFor();
  await inspect(root, "health with a quarantine");
  await root.open(path.operator("ledger"));
  const rows = rowsOf(root, words.quarantine.title);
  await rows.first().waitFor();
  expect(await rows.count()).toBe(1);
  expect(await rows.first().innerText()).toMatch(/req_[\s\S]*cannot be read[\s\S]*\$0\.\d+/);
  await inspect(root, "a quarantine");
  await rows.first().getByRole("button").click();
  const dialog = root.page.getByRole("dialog");
  const submit = dialog.getByRole("button", { name: words.quarantine.charge, exact: true });
  await dialog.getByLabel(words.quarantine.amount).fill("1000");
  await dialog.getByLabel(words.quarantine.reason, { exact: true }).fill("its client had half of it");
  await dialog.getByText(words.quarantine.tooMuch).waitFor();
  expect(await submit.isDisabled()).toBe(true);
  await dialog.getByLabel(words.quarantine.amount).fill("0.00002");
  await inspect(root, "resolving a quarantine");
  await submit.click();
  await dialog.waitFor({ state: "detached" });
  await rows.first().waitFor({ state: "detached" });
  const [spent] = (await dashboard.root.app("GET /operator/credits")).data;
  expect(spent).toBeDefined();
  const { data } = await dashboard.root.app("GET /operator/audit", {}, { org: other.organizationId });
  expect(data.find(({ action }) => action === "request.resolve")?.actor.name).not.toBeNull();
  expect(await health()).toMatchObject({ quarantined: 0, holds_open: 0 });
  leaving.abort();
  await asked;
  gateway.simulator.behave({ behaviour: {} });
});

test("an organization that was stopped is told apart from its namesake, and resumed once its balance is right", async () => {
  const { gateway } = dashboard;
  const org = await newOrganization(dashboard, "Granite");
  await newOrganization(dashboard, "granite");
  const stopped = await gateway.key(org);
  await gateway.tamper("UPDATE org_balance SET available = available + 7000000000 WHERE org_id = ?1", org);
  expect((await gateway.chat(stopped, hello())).status).toBe(200); // entries that nobody can mend
  await gateway.ledger.checkBooks([]);
  expect((await gateway.chat(stopped, hello())).status).toBe(503);
  const visitor = await dashboard.visitor(OPERATOR);
  await visitor.open(path.operator("ledger"));
  const named = `Granite …${org.slice(-4)}`;
  const row = rowsOf(visitor, words.stopped.title).filter({ hasText: named });
  await row.getByRole("button", { name: words.stopped.resumeOf(named), exact: true }).click();
  const dialog = visitor.page.getByRole("dialog", { name: words.stopped.resumeOf(named) });
  const submit = dialog.getByRole("button", { name: words.stopped.resume, exact: true });
  const reason = dialog.getByLabel(words.stopped.reason);
  await reason.fill(" ");
  expect(await submit.isDisabled()).toBe(true);
  await reason.fill("a row was changed by hand");
  await inspect(visitor, "resuming a stopped organization");
  await submit.click();
  await dialog.getByText("available should be").waitFor();
  await gateway.tamper("UPDATE org_balance SET available = available - 7000000000 WHERE org_id = ?1", org);
  await submit.click();
  await dialog.waitFor({ state: "detached" });
  await row.waitFor({ state: "detached" });
  expect((await gateway.chat(stopped, hello())).status).toBe(200);
  const { data } = await dashboard.root.app("GET /operator/audit", {}, { org });
  expect(data.map(({ action }) => action)).toContain("organization.resume");
  // The audit lists what was accepted apart, and finds nothing wrong.
  await visitor.page.getByRole("button", { name: words.run }).click();
  await visitor.page.getByText(words.ok).waitFor();
  const accepted = rowsOf(visitor, words.accepted);
  expect(await accepted.count()).toBe(2);
  for (const text of await accepted.allInnerTexts()) expect(text).toContain("I5 rows join");
  expect(await rowsOf(visitor, words.violations).count()).toBe(0);
  await inspect(visitor, "accepted findings", { about: /409/ });
});
