// Of the organizations that a person belongs to, those whose names look alike are namesakes.
import { expect, test } from "bun:test";
import { namesakesOf } from "../../dashboard/format/namesakes.ts";

test("names that look alike are one name, others are not", () => {
  const names = {
    a: "Acme Labs",
    b: "acme\u00a0labs",
    c: "Acme",
    d: "Café",
    e: "CAFE\u0301",
    f: "Basalt",
    g: "Ba\u200bsalt",
  };
  const organizations = Object.entries(names).map(([id, name]) => ({ id, name }));
  expect(namesakesOf(organizations)).toEqual(new Set(["a", "b", "d", "e", "f", "g"]));
});
