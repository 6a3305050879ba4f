import { expect, test } from "bun:test";
import { bearerOf } from "./bearer.ts";

test("the scheme is case-insensitive, the token exact", () => {
  for (const scheme of ["Bearer", "bearer", "BEARER", "Bearer  "])
    expect(bearerOf(`${scheme} gw_sk_aB`)).toBe("gw_sk_aB");
});

test("anything but exactly one bearer token is no token", () => {
  for (const header of [
    null,
    "",
    "Bearer",
    "Bearer ",
    "Bearer a b",
    "Bearer a, Bearer a",
    "Bearer a,b",
    "Basic dXNlcg==",
    "gw_sk_aB",
    "Bearer\ta",
    "Bearer a\u00a0b",
    " Bearer a",
    "Bearera",
  ])
    expect(bearerOf(header)).toBeNull();
});
