// A report lists at most 100 violations of an invariant. Those that an operator has accepted do not count.
import { describe, expect, test } from "bun:test";
import type { Violation } from "../records.ts";
import { Findings } from "./findings.ts";

const JOIN = "I5 rows join";
const found = (n: number): Violation => ({
  invariant: JOIN,
  organizationId: "org_1",
  requestId: null,
  expected: `${n}`,
  found: "0",
});
const upTo = (count: number): Violation[] => Array.from({ length: count }, (_, n) => found(n));

function reportOf(violations: readonly Violation[], accepted: readonly Violation[]) {
  const findings = new Findings(accepted);
  for (const one of violations) findings.violated(one.invariant, one);
  return findings.report();
}

describe("accepted violations", () => {
  test("however many there are, a new one is reported", () => {
    const { ok, violations, accepted } = reportOf(upTo(151), upTo(150));
    expect([ok, violations, accepted.length]).toEqual([false, [found(150)], 150]);
  });

  test("alone they leave the report ok", () => {
    expect(reportOf(upTo(150), upTo(150))).toMatchObject({ ok: true, violations: [] });
  });

  test.each<Partial<Violation>>([
    { invariant: "I5 hash chain" },
    { organizationId: "org_2" },
    { organizationId: null },
    { requestId: "req_1" },
    { expected: "1" },
    { found: "1" },
  ])("one that differs in %j is not accepted", (other) => {
    const one = { ...found(0), ...other };
    expect(reportOf([one], [found(0)])).toMatchObject({ ok: false, violations: [one], accepted: [] });
  });
});

test("at most 100 violations of an invariant are listed, and the others do not take their room", () => {
  const { violations } = reportOf([...upTo(250), { ...found(0), invariant: "I5 hash chain" }], []);
  expect(violations.map(({ invariant }) => invariant)).toEqual([
    ...Array.from({ length: 100 }, () => JOIN),
    "I5 hash chain",
  ]);
});
