// Two admins have the same dialog open: the first to save changes the key, the other is shown its current values,
// keeps what was typed, and overwrites nothing unseen.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { path } from "../../../dashboard/path-builder.ts";
import { dialogTexts as words, meanwhileTexts as meanwhile } from "../../../dashboard/components/texts.ts";
import { keysTexts as keys } from "../../../dashboard/pages/keys/texts.ts";
import { type Browser, newMember } from "../../support/browser.ts";
import { type Dashboard, startDashboard, type Visitor } from "../dashboard.ts";
import { inspect } from "../inspect.ts";
import { keyAct, newOrganization } from "../steps.ts";

/** The browser's complaint about the refusal that the story is about. */
const REFUSED = /409/;

// `test/browser/meanwhile.test.ts` covers the same dialogs on SQLite.
describe.each(["postgres"] as const)("on %s", (store) => {
  let dashboard: Dashboard;
  let org: string;
  let owner: Browser;
  let ada: Visitor;
  let adam: Visitor;

  beforeAll(async () => {
    dashboard = await startDashboard({ store });
    org = await newOrganization(dashboard, "Acme");
    const { root, gateway } = dashboard;
    owner = await newMember(root, gateway, { org, role: "owner", email: "olga@example.com" });
    for (const email of ["ada@example.com", "adam@example.com"])
      await newMember(root, gateway, { org, role: "admin", email });
    await owner.app("POST /orgs/{org}/keys", { org }, { name: "Production", limit_usd: "100" });
    ada = await dashboard.visitor("ada@example.com");
    adam = await dashboard.visitor("adam@example.com");
  });
  afterAll(() => dashboard.stop());

  const key = async () => (await owner.app("GET /orgs/{org}/keys", { org })).data[0];
  const changes = async (): Promise<(string | null)[]> =>
    (await owner.app("GET /orgs/{org}/audit", { org }, undefined, "?action=key.limit")).data.map(
      ({ after }) => after,
    );
  const save = (form: Locator, name: string = words.save): Promise<void> =>
    form.getByRole("button", { name, exact: true }).click();

  async function edited(visitor: Visitor): Promise<Locator> {
    await visitor.open(path.organization(org, "keys"));
    return keyAct(visitor, "Production", "edit");
  }

  test("the second of two who save is shown the key's current values, and cancels", async () => {
    const [first, second] = [await edited(ada), await edited(adam)];
    await first.getByLabel(keys.limit).fill("50");
    await second.getByLabel(keys.limit).fill("500");
    await save(first);
    await first.waitFor({ state: "hidden" });
    await save(second);
    const told = second.getByRole("alert").filter({ hasText: meanwhile.title });
    await told.getByText(`${keys.limit}: $50.00`).waitFor();
    expect(await second.getByLabel(keys.limit).inputValue()).toBe("500");
    await inspect(adam, "somebody else was faster", { about: REFUSED });
    await save(second, words.cancel);
    expect((await key())?.limit_usd).toBe("50.000000000");
    expect(await changes()).toHaveLength(1);
  }, 120_000);

  test("saving anyway replaces what was shown, and only that", async () => {
    const [first, second] = [await edited(ada), await edited(adam)];
    await second.getByLabel(keys.limit).fill("70");
    await first.getByLabel(keys.limit).fill("60");
    await save(first);
    await first.waitFor({ state: "hidden" });
    await save(second);
    await second.getByText(`${keys.limit}: $60.00`).waitFor();
    // The first admin edits it again before the second has decided.
    const again = await keyAct(ada, "Production", "edit");
    await again.getByLabel(keys.limit).fill("65");
    await save(again);
    await again.waitFor({ state: "hidden" });
    await save(second, meanwhile.saveAnyway);
    await second.getByText(`${keys.limit}: $65.00`).waitFor();
    expect((await key())?.limit_usd).toBe("65.000000000");
    await save(second, meanwhile.saveAnyway);
    await second.waitFor({ state: "hidden" });
    expect((await key())?.limit_usd).toBe("70.000000000");
    expect((await changes())[0]).toContain("70.000000000");
    expect(ada.complained()).toEqual([]);
    expect(adam.complained({ about: REFUSED })).toEqual([]);
  }, 120_000);
});
