// The filters of the operator's audit log: the organization's name, the person's, the days.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { path } from "../../dashboard/path-builder.ts";
import { auditTexts as words } from "../../dashboard/pages/audit/texts.ts";
import { operatorPageNames, pageNames, tableTexts, windowTexts } from "../../dashboard/components/texts.ts";
import { newMember } from "../support/browser.ts";
import { waitFor } from "../support/wait.ts";
import { type Dashboard, OPERATOR, startDashboard, type Visitor } from "./dashboard.ts";
import { inspect } from "./inspect.ts";
import { rowsOf } from "./steps.ts";

const DAY_MS = 86_400_000;

let dashboard: Dashboard;
let root: Visitor;
let acme: string;

beforeAll(async () => {
  dashboard = await startDashboard();
  for (const name of ["Basalt", "Acme"]) {
    const { id: org } = await dashboard.root.app("POST /operator/organizations", {}, { name });
    const at = {
      org,
      role: "owner",
      email: `${name.toLowerCase()}@example.com`,
      name: `Owner of ${name}`,
    } as const;
    const owner = await newMember(dashboard.root, dashboard.gateway, at);
    await owner.app("POST /orgs/{org}/keys", { org }, { name: `Key of ${name}` });
    acme = org;
  }
  root = await dashboard.visitor(OPERATOR);
});
afterAll(() => dashboard.stop());

const rows = (): Locator => rowsOf(root, operatorPageNames.audit);
const all = (): Promise<string[]> => rows().allInnerTexts();
const becomes = (what: string, holds: (lines: string[]) => boolean): Promise<void> =>
  waitFor(async () => holds(await all()), what);
const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
async function choose(label: string, typed: string, option: string): Promise<void> {
  await root.page.getByRole("combobox", { name: label, exact: true }).fill(typed);
  await root.page.getByRole("option", { name: option, exact: true }).click();
}

test("by the organization's name and the person's, chosen from a list", async () => {
  await root.open(path.operator("audit"));
  await choose(words.filters.org, "acm", "Acme");
  await becomes(
    "lines of Acme alone",
    (lines) => lines.length > 0 && lines.every((line) => line.includes("Acme")),
  );
  await choose(words.filters.actor, "owner of acme", "Owner of Acme · acme@example.com");
  await becomes(
    "what its owner did",
    (lines) => lines.length > 0 && lines.every((line) => line.includes("Owner of Acme")),
  );
  const sentence = "Owner of Acme created the standard key Key of Acme without a monthly limit";
  expect((await all()).some((line) => line.includes(sentence))).toBe(true);
  expect(
    await rows()
      .getByTitle(/^key\.create key_/)
      .count(),
  ).toBe(1);
  await inspect(root, "the audit log of one person");
  await root.page.reload();
  await becomes("the same after a reload", (lines) => lines.some((line) => line.includes(sentence)));
  await waitFor(
    async () =>
      (await root.page.getByRole("combobox", { name: words.filters.actor }).inputValue()).startsWith(
        "Owner of Acme",
      ),
    "the person's name",
  );
});

test("a line opens in full: address, request, before and after; its link opens it anywhere", async () => {
  const lines = await dashboard.root.app(
    "GET /operator/audit",
    {},
    undefined,
    `?org=${acme}&action=key.create`,
  );
  const [made] = lines.data;
  if (made === undefined) throw new Error("no key was made");
  await root.open(`${path.operator("audit")}?org=${acme}&action=key.create`);
  await rows().getByRole("link").first().click();
  const drawer = root.page.getByRole("dialog", { name: words.line.title });
  const fact = (name: string): Promise<string> =>
    drawer.getByRole("row", { name: new RegExp(`^${name}`) }).innerText();
  await drawer.waitFor();
  expect(made.address).toBe("127.0.0.1");
  expect(await fact(words.line.address)).toContain("127.0.0.1");
  expect(await fact(words.line.request)).toContain(made.request_id ?? "no id");
  expect(await fact(words.line.after)).toContain('"name": "Key of Acme"');
  await inspect(root, "a line of the audit log");
  expect(new URL(root.page.url()).searchParams.get("line")).toBe(made.id);
  await root.page.keyboard.press("Escape");
  await drawer.waitFor({ state: "hidden" });
  // Not among the rows that the page has loaded.
  await root.open(`${path.operator("audit")}?action=nothing.like.this&line=${made.id}`);
  await drawer.waitFor();
  expect(await fact(words.line.request)).toContain(made.request_id ?? "no id");
  await root.open(`${path.operator("audit")}?line=999999999`);
  await drawer.getByText(words.line.unknown).waitFor();
});

test("a member's page does not show an operator's address, and says so", async () => {
  const owner = await dashboard.visitor("acme@example.com");
  await owner.open(`${path.organization(acme, "audit")}?action=organization.create`);
  await rowsOf(owner, pageNames.audit).getByRole("link").first().click();
  const drawer = owner.page.getByRole("dialog", { name: words.line.title });
  await drawer.getByText(words.line.noAddress).waitFor();
  expect(await drawer.innerText()).not.toContain("127.0.0.1");
  expect(await drawer.getByRole("row", { name: new RegExp(`^${words.line.request}`) }).innerText()).toContain(
    "req_",
  );
  expect(owner.complained()).toEqual([]);
  await owner.leave();
});

test("by days, both inclusive", async () => {
  await root.open(path.operator("audit"));
  const from = root.page.getByLabel(windowTexts.from, { exact: true });
  const to = root.page.getByLabel(windowTexts.to, { exact: true });
  await becomes("all lines", (lines) => lines.length > 4);
  await root.page.getByRole("combobox", { name: windowTexts.label, exact: true }).click();
  await root.page.getByRole("option", { name: windowTexts.own, exact: true }).click();
  // Days apart, so that midnight does not move a line out of the range.
  const [before, after] = [day(Date.now() - 2 * DAY_MS), day(Date.now() + 2 * DAY_MS)];
  await to.fill(before);
  await root.page.getByText(tableTexts.noMatch).waitFor();
  await from.fill(before);
  await to.fill(after);
  await becomes("the lines of today", (lines) => lines.length > 4);
  const csv = await root.page.getByRole("link", { name: words.csv }).getAttribute("href");
  expect(csv).toContain(`from=${before}&to=${day(Date.parse(after) + DAY_MS)}`);
  const file = await root.page.request.get(new URL(csv ?? "", root.page.url()).href);
  expect(file.headers()["content-disposition"]).toContain(`audit-all-${before}`);
  expect((await file.text()).split("\r\n").length).toBeGreaterThan(5);
  expect(root.complained()).toEqual([]);
});
