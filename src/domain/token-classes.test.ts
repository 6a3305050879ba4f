import { expect, test } from "bun:test";
import { printClassCounts, readClassCounts, serviceTierOf } from "./token-classes.ts";

test("a tier of service is a short word in lower case, whatever a provider writes", () => {
  expect(serviceTierOf("Priority")).toBe("priority");
  expect(serviceTierOf("on_demand-2")).toBe("on_demand-2");
  for (const none of ["", " flex", "a b", "x".repeat(33), '"', "1h", null, undefined, 7, {}])
    expect(serviceTierOf(none)).toBeNull();
});

test("known classes are printed and read back, unknown ones are left out", () => {
  const known = { cacheWriteTokens: 5, imageInputTokens: 7, calls: 2, serviceTier: "flex" };
  const wire = printClassCounts(known);
  expect(wire).toEqual({ cache_write_tokens: 5, image_input_tokens: 7, calls: 2, service_tier: "flex" });
  expect(readClassCounts(wire)).toEqual(known);
  expect(Object.keys(printClassCounts({}))).toEqual([]);
  expect(Object.keys(readClassCounts({}))).toEqual([]);
});
