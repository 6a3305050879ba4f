// Addresses of the API, built from the names of its routes.
import { expect, test } from "bun:test";
import { addressOf, segmentsOf } from "../../dashboard/api/routes.ts";

test("a value in an address is one segment or one query value; blank values are left out", () => {
  expect(addressOf("GET /session", {})).toBe("/app/v1/session");
  expect(addressOf("GET /orgs/{org}/keys/{key}", { org: "a/../b", key: "k?c#d" })).toBe(
    "/app/v1/orgs/a%2F..%2Fb/keys/k%3Fc%23d",
  );
  expect(
    addressOf(
      "GET /orgs/{org}/activity.csv",
      { org: "org_1" },
      { model: "a&b=c", key: "", state: undefined },
    ),
  ).toBe("/app/v1/orgs/org_1/activity.csv?model=a%26b%3Dc");
});

test("everything below an organization has its prefix, which a change invalidates", () => {
  const route = "GET /orgs/{org}/billing/orders/{order}" as const;
  expect(segmentsOf(route, { org: "org_1", order: "ord_1" })).toEqual([
    "orgs",
    "org_1",
    "billing",
    "orders",
    "ord_1",
  ]);
});
