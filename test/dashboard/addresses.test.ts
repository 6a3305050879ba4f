// Every address of the dashboard, written out: a bookmark or a link in an email outlives the code.
import { expect, test } from "bun:test";
import { OPERATOR_PAGES, ORGANIZATION_PAGES, path } from "../../dashboard/path-builder.ts";

test("the addresses do not change", () => {
  const all = [
    path.home(),
    path.signIn(),
    path.welcome(),
    path.invitation(),
    path.reset(),
    path.device(),
    path.organization("org_1"),
    ...ORGANIZATION_PAGES.map((page) => path.organization("org_1", page)),
    path.key("org_1", "key_1"),
    path.operator(),
    ...OPERATOR_PAGES.map((page) => path.operator(page)),
  ];
  expect(all).toMatchInlineSnapshot(`
    [
      "/",
      "/sign-in",
      "/welcome",
      "/invitation",
      "/reset",
      "/device",
      "/o/org_1/overview",
      "/o/org_1/overview",
      "/o/org_1/keys",
      "/o/org_1/usage",
      "/o/org_1/activity",
      "/o/org_1/billing",
      "/o/org_1/models",
      "/o/org_1/playground",
      "/o/org_1/research",
      "/o/org_1/team",
      "/o/org_1/alerts",
      "/o/org_1/audit",
      "/o/org_1/settings",
      "/o/org_1/keys/key_1",
      "/operator/organizations",
      "/operator/home",
      "/operator/organizations",
      "/operator/requests",
      "/operator/credits",
      "/operator/routes",
      "/operator/entitlements",
      "/operator/providers",
      "/operator/health",
      "/operator/ledger",
      "/operator/people",
      "/operator/audit",
      "/operator/account",
    ]
  `);
});

test("a value in an address is one segment of it", () => {
  expect(path.organization("a/../b?c#d", "keys")).toBe("/o/a%2F..%2Fb%3Fc%23d/keys");
});
