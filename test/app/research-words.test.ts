// The purpose of a request and the reason of a decision are part of the entitlement: if they cannot be stored,
// nothing was decided, so that the next attempt gives them again. On either store.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Browser, firstOperator, newMember } from "../support/browser.ts";
import { startGateway, STORES, type TestGateway } from "../support/gateway.ts";
import { RESEARCH } from "../support/models.ts";

const DAY_MS = 86_400_000;
const expires = new Date(Date.now() + DAY_MS).toISOString();

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let root: Browser;
  let researcher: Browser;
  let org: string;

  beforeAll(async () => {
    gateway = await startGateway({ store });
    root = await firstOperator(gateway);
    org = (await root.app("POST /operator/organizations", {}, { name: "Lab" })).id;
    researcher = await newMember(root, gateway, { org, role: "developer", email: "rita@example.com" });
  });
  afterAll(() => gateway.stop());

  const wish = { model: RESEARCH.model, project: "Folding", purpose: "A paper", until: null };
  const ask = () => researcher.app("POST /orgs/{org}/research", { org }, wish);
  const shown = async (id: string) =>
    (await researcher.app("GET /orgs/{org}/research", { org })).data.find((row) => row.id === id);
  const kept = async (): Promise<number> =>
    (await gateway.rowsOf("entitlement")).length + (await gateway.rowsOf("audit_log")).length;

  /** Runs it while no such text can be written, and nothing else is wrong. */
  async function withoutWords<Result>(happens: () => Promise<Result>): Promise<Result> {
    await gateway.tamper("ALTER TABLE entitlement_note RENAME TO entitlement_note_away");
    try {
      return await happens();
    } finally {
      await gateway.tamper("ALTER TABLE entitlement_note_away RENAME TO entitlement_note");
    }
  }

  const decide = {
    approve: (entitlement: string, note: string) =>
      root.try("POST /operator/entitlements/{entitlement}/approve", { entitlement }, { expires, note }),
    decline: (entitlement: string, reason: string) =>
      root.try("POST /operator/entitlements/{entitlement}/decline", { entitlement }, { reason }),
    revoke: (entitlement: string, reason: string) =>
      root.try("POST /operator/entitlements/{entitlement}/revoke", { entitlement }, { reason }),
  };

  test("a request without its purpose does not exist", async () => {
    const before = await kept();
    const failed = await withoutWords(() => researcher.try("POST /orgs/{org}/research", { org }, wish));
    expect([failed.status, await kept()]).toEqual([500, before]);
    expect(await shown((await ask()).id)).toMatchObject({ state: "requested", purpose: "A paper" });
  });

  test.each([
    ["approve", "active"],
    ["decline", "declined"],
    ["revoke", "revoked"],
  ] as const)(
    "%s: nothing is decided where the words are lost, and they are there where it is",
    async (kind, becomes) => {
      const { id } = await ask();
      const before = await kept();
      const failed = await withoutWords(() => decide[kind](id, "lost"));
      expect([failed.status, await kept()]).toEqual([500, before]);
      expect(await shown(id)).toMatchObject({ state: "requested", note: null });
      expect((await decide[kind](id, "because")).status).toBe(200);
      expect(await shown(id)).toMatchObject({ state: becomes, note: "because", purpose: "A paper" });
    },
  );
});
