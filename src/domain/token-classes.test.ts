import { expect, test } from "bun:test";
import { serviceTierOf } from "./token-classes.ts";

test("a tier of service is a short word in lower case, whatever a provider writes", () => {
  expect(serviceTierOf("Priority")).toBe("priority");
  expect(serviceTierOf("on_demand-2")).toBe("on_demand-2");
  for (const none of ["", " flex", "a b", "x".repeat(33), '"', "1h", null, undefined, 7, {}])
    expect(serviceTierOf(none)).toBeNull();
});
