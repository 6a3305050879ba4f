// Addresses of the API, made of the names of its routes.
import { expect, test } from "bun:test";
import { addressOf, segmentsOf } from "../../dashboard/api/routes.ts";

test("what stands in an address is one segment or one value of it; what is blank is left out", () => {
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

test("what is below an organization begins like it: a change makes that much stale", () => {
  const route = "GET /orgs/{org}/billing/orders/{order}" as const;
  expect(segmentsOf(route, { org: "org_1", order: "ord_1" })).toEqual([
    "orgs",
    "org_1",
    "billing",
    "orders",
    "ord_1",
  ]);
});
