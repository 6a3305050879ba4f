// References of ledger entries in words.
import { expect, test } from "bun:test";
import { entryWords, referenceWords } from "../../dashboard/pages/billing/reference-words.ts";

test("credits from the operator are described in plain words, with their reference", () => {
  expect(referenceWords("grant", "operator: INV-1")).toBe("granted by the operator, INV-1");
  expect(referenceWords("refund", "operator: INV: 2")).toBe("given back by the operator, INV: 2");
  expect(referenceWords("debt_paid", "operator: INV-3")).toBe("by the operator, INV-3");
  expect(referenceWords("purchase", "stripe: cs_1")).toBe("through Stripe, cs_1");
});

test("an entry without a reference says what it covers: requests, or a debt paid from what they returned", () => {
  expect(entryWords({ kind: "charge", reference: null, requests: 1 })).toBe("1 request");
  expect(entryWords({ kind: "void", reference: null, requests: 1_234 })).toBe("1,234 requests");
  expect(entryWords({ kind: "debt_paid", reference: null, requests: 0 })).toBe("from what requests returned");
  expect(entryWords({ kind: "grant", reference: "operator: INV-1", requests: 0 })).toBe(
    "granted by the operator, INV-1",
  );
  expect(entryWords({ kind: "grant", reference: null, requests: 0 })).toBe("");
});

test("anything without words is returned unchanged", () => {
  for (const reference of ["other: 1", "constructor: 1", "req_1", "INV-1", ""])
    expect(referenceWords("purchase", reference)).toBe(reference);
});
