// The filter of an organization's audit log offers every action that can occur in it.
import { expect, test } from "bun:test";
import { appRoutes } from "../support/endpoints.ts";
import { ORGANIZATION_ACTIONS } from "../../src/domain/audit-actions.ts";
import { firstOperator, newMember } from "../support/browser.ts";
import { startGateway } from "../support/gateway.ts";
import { edit } from "../support/versions.ts";

const offered: readonly string[] = ORGANIZATION_ACTIONS;

test("every change of an organization's routes is offered", () => {
  const named = appRoutes()
    .filter(([route]) => route.includes("/orgs/{org}") || route.includes("/entitlements/"))
    .flatMap(([, { audit }]) => (audit === null ? [] : [audit]));
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((action) => !offered.includes(action))).toEqual([]);
});

test("actions written by the ledger and the operator are offered", async () => {
  const gateway = await startGateway();
  try {
    const root = await firstOperator(gateway);
    const { id: org } = await root.app("POST /operator/organizations", {}, { name: "Acme" });
    const olga = await newMember(root, gateway, { org, role: "owner", email: "olga@example.com" });
    for (const kind of ["purchase", "grant"])
      await root.app(
        "POST /operator/credits",
        {},
        { org, amount_usd: "5", kind, reference: kind, reason: "agreed" },
      );
    const key = await olga.app("POST /orgs/{org}/keys", { org }, { name: "one" });
    await edit(olga, "PATCH /orgs/{org}/keys/{key}", { org, key: key.id }, { name: "two", limit_usd: "5" });
    const { data } = await olga.app("GET /orgs/{org}/audit", { org });
    expect(data.length).toBeGreaterThan(6);
    expect(data.map(({ action }) => action).filter((action) => !offered.includes(action))).toEqual([]);
    // The organization is named, so that a line can be read.
    expect(new Set(data.map(({ org_name }) => org_name))).toEqual(new Set(["Acme"]));
    expect(data.find(({ action }) => action === "key.create")?.target_name).toBe("two");
    expect(data.find(({ action }) => action === "member.join")?.target_name).toBe("olga");
    await root.app("POST /operator/management-keys", {}, { name: "Deploy" });
    const [made] = (await root.app("GET /operator/audit", {}, undefined, "?action=management_key.create"))
      .data;
    expect(made).toMatchObject({ target_name: "Deploy", org_name: null });
  } finally {
    await gateway.stop();
  }
});
