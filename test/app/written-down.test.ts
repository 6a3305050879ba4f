// A change and its line in the audit log are atomic: if the line cannot be written nothing is changed, so that
// neither a crash nor an immediate undo leaves a change without its line, or lines in another order.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Browser, firstOperator, tokenOf } from "../support/browser.ts";
import { STORES, startGateway, type TestGateway } from "../support/gateway.ts";
import { unwritable } from "../support/unwritable-lines.ts";

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let root: Browser;
  let org: string;

  beforeAll(async () => {
    gateway = await startGateway({ store });
    root = await firstOperator(gateway);
    org = (await root.app("POST /operator/organizations", {}, { name: "Acme" })).id;
    const { link } = await root.app(
      "POST /operator/organizations/{org}/invitations",
      { org },
      { email: "root@example.com", role: "owner" },
    );
    await root.app("POST /invitations/accept", {}, { token: tokenOf(link) });
  });
  afterAll(() => gateway.stop());

  const rule = { kind: "balance_below", amount_usd: "1", channels: [], on: true };
  const topUp = { on: true, threshold_usd: "5", amount_usd: "10", monthly_cap_usd: null };
  const channel = { kind: "webhook", name: "Pager", target: "https://example.com/hook" };
  const rules = async () => (await root.app("GET /orgs/{org}/alerts/rules", { org })).data;
  const channels = async () => (await root.app("GET /orgs/{org}/alerts/channels", { org })).data;
  const automatic = () => root.app("GET /orgs/{org}/billing/auto-top-up", { org });
  const providers = async () => (await root.app("GET /operator/providers")).data;
  const all = async () => [await rules(), await channels(), await automatic(), await providers()];

  /** What people change besides keys, organizations and money, as far as it is in the same store. */
  async function changes(): Promise<(() => Promise<{ status: number }>)[]> {
    const [first] = await rules();
    const [, made] = await channels();
    const { version } = await automatic();
    const provider = { provider: (await providers())[0]?.name ?? "" };
    const at = { org, rule: first?.id ?? "", channel: made?.id ?? "" };
    return [
      () => root.try("POST /orgs/{org}/alerts/rules", at, rule),
      () =>
        root.try("PUT /orgs/{org}/alerts/rules/{rule}", at, {
          ...rule,
          amount_usd: "2",
          version: first?.version,
        }),
      () => root.try("DELETE /orgs/{org}/alerts/rules/{rule}", at),
      () => root.try("POST /orgs/{org}/alerts/channels", at, channel),
      () => root.try("DELETE /orgs/{org}/alerts/channels/{channel}", at),
      () => root.try("PUT /orgs/{org}/billing/auto-top-up", at, { ...topUp, version }),
      () => root.try("POST /operator/providers/{provider}/open", provider, { reason: "a drill" }),
    ];
  }

  test("a change that cannot be logged is not made", async () => {
    await root.app("POST /orgs/{org}/alerts/rules", { org }, rule);
    await root.app("POST /orgs/{org}/alerts/channels", { org }, channel);
    const before = await all();
    await unwritable(gateway, store, null, async () => {
      for (const change of await changes()) expect((await change()).status).toBeGreaterThanOrEqual(500);
      expect(await all()).toEqual(before);
    });
    for (const change of await changes()) expect((await change()).status).toBeLessThan(300);
    expect(await all()).not.toEqual(before);
  });
});
