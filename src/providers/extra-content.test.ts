import { expect, test } from "bun:test";
import { extraOf } from "./extra-content.ts";

test("a provider reads its own state, and nothing that nobody brought", () => {
  expect(extraOf({ acme: { a: 1 } }, "acme")).toEqual({ a: 1 });
  for (const name of ["other", "constructor", "toString", "__proto__"])
    expect(extraOf({ acme: 1 }, name)).toBeUndefined();
  expect(extraOf(undefined, "acme")).toBeUndefined();
});
