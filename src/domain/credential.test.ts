import { expect, test } from "bun:test";
import { authorizationOf, type ShownIn } from "./credential.ts";
import { Refusal } from "./refusals.ts";

const shown = (headers: Record<string, string>, shownIn?: ShownIn) =>
  authorizationOf(new Headers(headers), shownIn);
const BEARER = { authorization: "Bearer key" };
const API_KEY = { "x-api-key": "key" };

test("a key counts in the header that the surface takes it from, and in no other", () => {
  expect([shown(BEARER), shown(API_KEY), shown({ ...BEARER, "x-api-key": "other" })]).toEqual([
    "Bearer key",
    null,
    "Bearer key",
  ]);
  expect([shown(BEARER, "x-api-key"), shown(API_KEY, "x-api-key")]).toEqual([null, "Bearer key"]);
  expect([shown(BEARER, "either"), shown(API_KEY, "either"), shown({}, "either")]).toEqual([
    "Bearer key",
    "Bearer key",
    null,
  ]);
});

test("where either is taken the same key may be in both, however its scheme is spelled; two keys are 401", () => {
  for (const authorization of ["Bearer key", "bearer key", "BEARER  key"])
    expect(shown({ ...API_KEY, authorization }, "either")).toBe(authorization);
  for (const authorization of ["Bearer other", "Bearer KEY", "Basic key", "key"])
    expect(() => shown({ ...API_KEY, authorization }, "either")).toThrow(Refusal);
});
