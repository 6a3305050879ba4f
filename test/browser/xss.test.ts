// Everyone who can write a text writes markup and script into it. Every page prints it unchanged: nothing runs,
// nothing is loaded, no policy has to intervene (hardening.md 144 and S27).
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  OPERATOR_PAGES,
  type OperatorPage,
  ORGANIZATION_PAGES,
  type OrganizationPage,
  path,
} from "../../dashboard/path-builder.ts";
import { answerTexts, dialogTexts } from "../../dashboard/components/texts.ts";
import { auditTexts } from "../../dashboard/pages/audit/texts.ts";
import { deviceTexts } from "../../dashboard/pages/device/texts.ts";
import { keysTexts } from "../../dashboard/pages/keys/texts.ts";
import { playgroundTexts } from "../../dashboard/pages/playground/texts.ts";
import { parseManifest } from "../../src/releases/manifest.ts";
import { askForCodes } from "../support/device.ts";
import { MODELS, PLAIN } from "../support/models.ts";
import { edit } from "../support/versions.ts";
import { type Dashboard, DESKTOP, NARROW, OPERATOR, startDashboard, type Visitor } from "./dashboard.ts";
import {
  routed,
  seedHostile,
  HEADER,
  HOSTILE,
  HOSTILE_MODELS,
  HOSTILE_TEXTS,
  type HostileOrganization,
  startHostileProvider,
} from "./hostile.ts";
import { ALIVE, all, PAYLOADS, READABLE, written } from "./payloads.ts";
import { keyAct, showAll } from "./steps.ts";

const provider = startHostileProvider();
let dashboard: Dashboard;
let hostile: HostileOrganization;
let owner: Visitor;
let operator: Visitor;

beforeAll(async () => {
  dashboard = await startDashboard({
    models: [...MODELS, ...HOSTILE_MODELS],
    providers: { hostile: provider.url },
  });
  hostile = await seedHostile(dashboard);
  [owner, operator] = await Promise.all([dashboard.visitor(hostile.owner), dashboard.visitor(OPERATOR)]);
});
afterAll(async () => {
  await dashboard.stop();
  await provider.stop();
});

/** Every text is shown as it was written, and none runs. */
async function inert(visitor: Visitor, shown: readonly string[]): Promise<void> {
  await showAll(visitor);
  const { page } = visitor;
  const readable = await page.evaluate<string>(READABLE);
  expect({
    missing: shown.filter((text) => !readable.includes(text)),
    alive: await page.evaluate<string[]>(ALIVE),
    complained: visitor.complained(),
  }).toEqual({ missing: [], alive: [], complained: [] });
}

/** Long names are broken wherever they are. */
async function narrow(visitor: Visitor): Promise<void> {
  await visitor.resize(NARROW);
  expect(await visitor.overflow()).toBe(0);
  await visitor.page.setViewportSize(DESKTOP);
}

/** What an audit log has room for. */
const CUT = PAYLOADS.map((payload) => payload.slice(0, 24));

/** The texts that must be readable there. */
const OF_ORGANIZATION: Record<OrganizationPage, readonly string[]> = {
  overview: [],
  keys: [...all("key"), ...all("person")],
  usage: [],
  activity: all("key"),
  billing: all("reference"),
  models: [], // in the drawer of each
  playground: [],
  research: [...all("project"), ...all("person"), ...all("note")],
  team: all("person"),
  alerts: [...all("channel"), ...all("key")],
  audit: [...CUT, ...all("person")],
  settings: [written(PAYLOADS[0], "person"), written(PAYLOADS[1], "organization")],
};
const OF_OPERATOR: Record<OperatorPage, readonly string[]> = {
  home: [],
  organizations: all("organization"),
  requests: all("key"),
  credits: all("reference"),
  routes: all("closed"),
  entitlements: [...all("project"), ...all("purpose"), ...all("person")],
  providers: [],
  health: [],
  ledger: [],
  people: [...all("person"), ...all("operator key"), ...all("host")],
  audit: [...CUT, ...all("reference"), ...all("person")],
  account: [],
};

test("the checks of this file fail on a page that takes a text for markup", async () => {
  const visitor = await dashboard.visitor();
  await visitor.open(path.signIn());
  for (const payload of PAYLOADS.filter((text) => /img|svg|iframe|<b /.test(text))) {
    await visitor.page.evaluate<void>(`document.querySelector("h1").innerHTML = ${JSON.stringify(payload)}`);
    await visitor.page.waitForTimeout(50);
    const signs = [...(await visitor.page.evaluate<string[]>(ALIVE)), ...visitor.complained()];
    expect({ payload, noticed: signs.length > 0 }).toEqual({ payload, noticed: true });
  }
  await visitor.leave();
});

for (const page of ORGANIZATION_PAGES)
  test(`organization: ${page}`, async () => {
    await owner.open(path.organization(hostile.org, page));
    await inert(owner, OF_ORGANIZATION[page]);
    await narrow(owner);
  });

test("the page of a key", async () => {
  const { data } = await dashboard.root.app("GET /orgs/{org}/keys", { org: hostile.org });
  const key = data.find(({ name }) => all("key").includes(name));
  await owner.open(path.key(hostile.org, key?.id ?? ""));
  await inert(owner, [key?.name ?? "a key", key?.created_by?.name ?? "a person"]);
  await narrow(owner);
});

test("the drawer of each model, with the reason why its route is closed", async () => {
  const models = path.organization(hostile.org, "models");
  await owner.open(models);
  for (const [n, text] of PAYLOADS.entries()) {
    await owner.page.evaluate<void>(`history.pushState(null, "", "${models}?model=${routed(n)}")`);
    await owner.page.getByRole("dialog").getByText(routed(n)).first().waitFor();
    await owner.settled();
    await inert(owner, [written(text, "closed")]);
  }
  await narrow(owner);
});

for (const page of OPERATOR_PAGES)
  test(`operator: ${page}`, async () => {
    await operator.open(path.operator(page));
    await inert(operator, OF_OPERATOR[page]);
    await narrow(operator);
  });

test("the machine that asks to log in, on the page that decides", async () => {
  const host = written(PAYLOADS[8], "host");
  const { user_code } = await askForCodes(dashboard.gateway.url, host);
  await operator.open(`${path.device()}?code=${user_code}`);
  await operator.page.getByRole("button", { name: deviceTexts.find }).click();
  await operator.page.getByRole("button", { name: deviceTexts.approve, exact: true }).waitFor();
  await inert(operator, [host]);
  await narrow(operator);
});

test("an operator looks into the organizations", async () => {
  for (const { id } of (await dashboard.root.app("GET /operator/organizations")).data.slice(0, 3)) {
    await operator.open(path.organization(id));
    await inert(operator, []);
  }
});

test("usage by key and by member names them all", async () => {
  for (const [group, kind] of Object.entries({ key: "key", member: "person" } as const)) {
    await owner.open(`${path.organization(hostile.org, "usage")}?group_by=${group}`);
    await inert(owner, all(kind));
  }
});

test("an address that carries a payload in every filter", async () => {
  const names = ["find", "model", "key", "req", "search", "state", "range", "create", "order", "next"];
  for (const payload of PAYLOADS.slice(0, 4)) {
    const query = new URLSearchParams(Object.fromEntries(names.map((name) => [name, payload])));
    await owner.open(`${path.organization(hostile.org, "activity")}?${query.toString()}`);
    expect(await owner.page.evaluate<string[]>(ALIVE)).toEqual([]);
    expect(owner.complained({ about: /status of 40[04]/ })).toEqual([]);
  }
});

test("a line of the audit log in full, also by an address that carries a payload", async () => {
  await owner.open(`${path.organization(hostile.org, "audit")}?action=key.create`);
  await owner.page.locator("main tbody tr a").first().click();
  await owner.page.getByRole("dialog").getByText('"name":').waitFor();
  await inert(owner, []);
  await narrow(owner);
  for (const payload of PAYLOADS.slice(0, 4)) {
    const query = new URLSearchParams({ action: "key.create", line: payload.slice(0, 60) });
    await owner.open(`${path.organization(hostile.org, "audit")}?${query.toString()}`);
    await owner.page.getByText(auditTexts.line.unknown).waitFor();
    await inert(owner, []);
  }
});

test("a request's drawer, and the dialogs that ask to type a key's name", async () => {
  await owner.open(`${path.organization(hostile.org, "activity")}?req=${hostile.request}`);
  await owner.page.getByRole("dialog").getByText(hostile.request, { exact: true }).waitFor();
  await inert(owner, [HEADER]);
  await owner.open(path.organization(hostile.org, "keys"));
  for (const name of all("key").slice(-3)) {
    const dialog = await keyAct(owner, name, "revoke");
    const revoke = dialog.getByRole("button", { name: keysTexts.revokeAction(name) });
    await dialog.getByRole("textbox").fill(name);
    expect(await revoke.isEnabled()).toBe(true);
    await inert(owner, [keysTexts.revokeTitle(name)]);
    await dialog.getByRole("button", { name: dialogTexts.cancel }).click();
    await dialog.waitFor({ state: "hidden" });
  }
});

test("the playground prints a hostile model's reasoning, text and tool call", async () => {
  const { page } = owner;
  const { key } = hostile;
  await edit(
    dashboard.root,
    "PATCH /orgs/{org}/keys/{key}",
    { org: hostile.org, key: key.id },
    { limit_usd: null },
  );
  await owner.open(`${path.organization(hostile.org, "playground")}?model=${HOSTILE}`);
  await page.getByRole("combobox", { name: playgroundTexts.key }).click();
  // One of them is there before the list is requested.
  await page.getByRole("option").nth(1).waitFor();
  await page.getByRole("option", { name: key.name, exact: true }).waitFor();
  await inert(owner, all("key"));
  await page.getByRole("option", { name: key.name, exact: true }).click();
  await page.getByLabel(playgroundTexts.message, { exact: true }).fill(PAYLOADS.join("\n"));
  await page.getByRole("button", { name: playgroundTexts.send, exact: true }).click();
  await page.getByText(answerTexts.phases.settled, { exact: true }).waitFor();
  await inert(owner, Object.values(HOSTILE_TEXTS));
});

test("releases cannot carry such names: model, provider, region and route are plain words", () => {
  for (const payload of PAYLOADS.filter((text) => /[^\w]/.test(text)))
    for (const field of ["model", "provider", "region", "route"])
      expect(() => parseManifest({ ...PLAIN, [field]: payload })).toThrow(field);
});
