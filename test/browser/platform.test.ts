// What an operator does by hand to the platform: probing a provider, opening and closing its breaker, copying a
// support bundle.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { path } from "../../dashboard/path-builder.ts";
import { operatorHealthTexts } from "../../dashboard/pages/operator/health/texts.ts";
import { operatorHomeTexts } from "../../dashboard/pages/operator/home/texts.ts";
import { operatorProvidersTexts } from "../../dashboard/pages/operator/providers/texts.ts";
import { hello } from "../support/gateway.ts";
import { PLAIN } from "../support/models.ts";
import { type Dashboard, OPERATOR, startDashboard, type Visitor } from "./dashboard.ts";
import { inspect } from "./inspect.ts";
import { rowsOf } from "./steps.ts";

let dashboard: Dashboard;
let visitor: Visitor;

beforeAll(async () => {
  dashboard = await startDashboard({
    configure: (config) => {
      for (const provider of config.providers)
        provider.health = { ...provider.health, probe: "/models", intervalMs: 3_600_000 };
    },
  });
  visitor = await dashboard.visitor(OPERATOR);
});
afterAll(() => dashboard.stop());

test("an operator probes a provider, opens its breaker and closes it", async () => {
  const words = operatorProvidersTexts;
  const { page } = visitor;
  const customer = await dashboard.gateway.customer();
  const status = async (): Promise<number> => (await dashboard.gateway.chat(customer, hello())).status;
  await visitor.open(path.operator("providers"));
  await page.getByRole("button", { name: words.probeOf("simulator") }).click();
  await page.getByText(/^It answered after/).waitFor();
  await page.getByRole("button", { name: words.openOf("simulator") }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(words.reason).fill("answers with nonsense");
  await dialog
    .getByLabel(/simulator/)
    .last()
    .fill("simulator");
  expect(await visitor.axe()).toEqual([]);
  await dialog.getByRole("button", { name: words.open }).click();
  await page.getByText(words.opened).waitFor();
  expect(await page.getByText(/answers with nonsense · Root/).count()).toBe(1);
  expect(await visitor.axe()).toEqual([]);
  expect(await status()).toBe(503);
  await page.getByRole("button", { name: words.closeOf("simulator") }).click();
  await dialog.getByRole("button", { name: words.close, exact: true }).click();
  await page.getByText(words.opened).waitFor({ state: "detached" });
  expect(await status()).toBe(200);
  expect(visitor.complained()).toEqual([]);
}, 120_000);

test("home says as text that a provider is partly live, with how many routes, and why not all", async () => {
  const route = `${PLAIN.model}@simulator/local`;
  const { root } = dashboard;
  const row = rowsOf(visitor, operatorHomeTexts.providers).filter({ hasText: "simulator" });
  await visitor.open(path.operator("home"));
  expect(await row.innerText()).toMatch(/^simulator\s+live\s+(\d+) of \1 routes live\s/);
  await root.app("POST /operator/routes/disable", {}, { route, reason: "answers badly" });
  await visitor.open(path.operator("home"));
  expect(await row.innerText()).toMatch(
    /^simulator\s+partly live\s+\d+ of \d+ routes live · answers badly\s/,
  );
  await visitor.open(path.operator("providers"));
  const first = rowsOf(visitor, operatorProvidersTexts.routesOf("simulator")).first();
  expect(await first.innerText()).toMatch(/disabled\s+answers badly/);
  await root.app("POST /operator/routes/enable", {}, { route });
}, 120_000);

test("an operator copies the support bundle; without a clipboard it can be selected", async () => {
  const words = operatorHealthTexts;
  const { page } = visitor;
  await visitor.open(path.operator("health"));
  await page.getByText(operatorHealthTexts.noBackup).waitFor();
  const none = page.locator(".mantine-Badge-root", { hasText: operatorHealthTexts.never });
  expect(await none.getAttribute("style")).toContain("--tone-warning");
  const button = page.getByRole("button", { name: words.bundle });
  await page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }");
  await button.click();
  await page.getByText(words.bundleCopied).waitFor();
  expect(JSON.parse(await page.evaluate<string>("window.copied"))).toMatchObject({ health: { ready: true } });
  await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('no'))");
  await button.click();
  await page.getByText(words.bundleFailed).waitFor();
  expect(JSON.parse(await page.getByRole("textbox").inputValue())).toMatchObject({ health: { ready: true } });
  expect(await visitor.axe()).toEqual([]);
  expect(visitor.complained()).toEqual([]);
}, 120_000);

test("system health shows how the store commits; on PostgreSQL also which gateways share it", async () => {
  const words = operatorHealthTexts;
  const shared = await startDashboard({ store: "postgres" });
  try {
    expect((await shared.gateway.chat(await shared.gateway.customer(), hello())).status).toBe(200);
    const root = await shared.visitor(OPERATOR);
    await root.open(path.operator("health"));
    const main = await root.page.getByRole("main").innerText();
    for (const title of [words.queue, words.commit, words.sweep, words.overload, words.schema, words.clock])
      expect(main).toContain(title);
    expect(main).toMatch(/p50; p99 [\d.]+ m?s, of the last \d+/);
    expect(main).toContain(words.metricsFor);
    expect(main).not.toContain(words.backup); // PostgreSQL's own tools make it
    const gateways = rowsOf(root, words.gateways);
    expect(await gateways.count()).toBe(1);
    expect(await gateways.first().innerText()).toContain(words.lease.valid);
    await inspect(root, "system health on PostgreSQL");
    await root.leave();
  } finally {
    await shared.stop();
  }
}, 120_000);
