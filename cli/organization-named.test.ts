import { expect, test } from "bun:test";
import type { OrganizationJson } from "../src/api/shapes/records.ts";
import { organizationNamed } from "./organization-named.ts";
import { Problem } from "./problem.ts";

const all = [
  ["org_a", "Acme Labs"],
  ["org_b", "acme\u00a0labs"],
  ["org_c", "Olga’s lab"],
].map(([id, name]) => ({ id, name, created_at: "2026-11-01T00:00:00.000Z" }) as OrganizationJson);

test("an organization is found by its name as a keyboard has it", () => {
  expect(organizationNamed("olga's  lab", all)).toBe("org_c");
});

test("of two whose names look alike, neither is chosen", () => {
  const named = (): string => organizationNamed("Acme Labs", all);
  expect(named).toThrow(Problem);
  expect(named).toThrow('2 organizations are called "Acme Labs"');
});
