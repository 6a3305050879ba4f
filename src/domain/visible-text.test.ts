import { expect, test } from "bun:test";
import { comparableName, isReordered, isVisible, looksAlike } from "./visible-text.ts";

test("a name can be typed as it is shown: blanks, marks, apostrophes and hyphens as a keyboard has them", () => {
  const named: [string, string][] = [
    ["nightly batch", "nightly  batch"],
    ["nightly batch", "nightly\u00a0batch"],
    ["café", "cafe\u0301"],
    ["Olga's key", "Olga’s key"],
    ['the "old" one', "the “old” one"],
    ["a-b", "a–b"],
    ["Production", "Pro\u200bduction"],
    [" Production ", "Production"],
  ];
  for (const [typed, shown] of named)
    expect({ typed, same: looksAlike(typed, shown) }).toEqual({ typed, same: true });
});

test("different names stay different, and an empty one matches nothing", () => {
  const others: [string, string][] = [
    ["nightlybatch", "nightly batch"],
    ["production", "Production"],
    ["cafe", "café"],
    ["", "\u200b"],
    ["\u200b", "\u200b"],
    ["cba", "\u202eabc"],
  ];
  for (const [typed, shown] of others)
    expect({ typed, same: looksAlike(typed, shown) }).toEqual({ typed, same: false });
});

test("names are alike as they look, in any case", () => {
  const alike: [string, string][] = [
    ["Acme", " acme "],
    ["Acme Labs", "acme\u00a0 labs"],
    ["Café", "CAFE\u0301"],
    ["Acme", "Ac\u200bme"],
    ["Acme", "\uff21\uff43\uff4d\uff45"],
    ["Olga's lab", "olga’s lab"],
    ["ÄRZTE", "ärzte"],
  ];
  for (const [one, other] of alike) expect(comparableName(other)).toBe(comparableName(one));
  for (const [one, other] of [
    ["Acme", "Acme 2"],
    ["Cafe", "Café"],
    ["Acme", "\u0410cme"],
  ] as const)
    expect(comparableName(other)).not.toBe(comparableName(one));
});

test("one visible character makes a text visible, one direction control makes it reordered", () => {
  for (const text of ["\u200b", "\u00a0", "\u2800", "\u3164", "\u2066\u2069", " \u200d "])
    expect(isVisible(text)).toBe(false);
  for (const text of ["a", "é", "👩‍🔬", "مفتاح", "你"]) expect(isVisible(text)).toBe(true);
  for (const text of ["\u202eabc", "a\u2066b", "\u200fa"]) expect(isReordered(text)).toBe(true);
  for (const text of ["مفتاح", "مفتاح abc", "می‌خواهم", "👩‍🔬"]) expect(isReordered(text)).toBe(false);
});
