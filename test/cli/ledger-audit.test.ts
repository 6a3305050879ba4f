// `ledger audit` in words: what an operator has accepted is listed apart and does not change its exit code.
import { afterAll, expect, test } from "bun:test";
import type { AuditReportJson, ViolationJson } from "../../src/api/shapes/records.ts";
import { type Ran, runToEnd, PROGRAM } from "../support/program.ts";

const finding = (found: string): ViolationJson => ({
  invariant: "I5 rows join",
  org: "org_1",
  request_id: null,
  expected: "1/0",
  found,
});
let answer: Pick<AuditReportJson, "ok" | "checked" | "violations" | "accepted" | "stopped">;

const gateway = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  routes: { "/admin/v1/ledger/audit": () => Response.json(answer) },
  fetch: () => new Response(null, { status: 404 }),
});
afterAll(() => gateway.stop(true));

async function audit(violations: ViolationJson[], accepted: ViolationJson[]): Promise<Ran> {
  answer = { ok: violations.length === 0, checked: { "I5 rows join": 7 }, violations, accepted, stopped: [] };
  return await runToEnd(PROGRAM, ["ledger", "audit", "--url", gateway.url.origin, "--token", "gw_mk_1"]);
}

const ACCEPTED = "Accepted by an operator when the organization was resumed:";

test("nothing was found", async () => {
  const { code, out } = await audit([], []);
  expect([code, out.trim()]).toEqual([0, "Every invariant holds: 1 checked over 7 rows."]);
});

test("only accepted findings: every invariant holds, and they are listed apart", async () => {
  const { code, out } = await audit([], [finding("2/0"), finding("3/0")]);
  expect(code).toBe(0);
  const [first, second] = out.split(ACCEPTED);
  expect(first?.trim()).toBe("Every invariant holds: 1 checked over 7 rows.");
  expect(second).toContain("2/0");
  expect(second).toContain("3/0");
});

test("a new finding beside an accepted one: exit code 1, each in its own list", async () => {
  const { code, out, err } = await audit([finding("4/0")], [finding("2/0")]);
  expect(code).toBe(1);
  expect(err).toContain("Something does not add up.");
  const [first, second] = out.split(ACCEPTED);
  expect([first?.includes("4/0"), first?.includes("2/0")]).toEqual([true, false]);
  expect([second?.includes("4/0"), second?.includes("2/0")]).toEqual([false, true]);
});
