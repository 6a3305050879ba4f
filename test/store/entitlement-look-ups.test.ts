// However many entitlements an organization ever requested, COMMIT 1 and the count of its requests read few rows.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStore } from "../../src/store/sqlite.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-entitlements-"));
const store = openSqliteStore(folder);
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

test.each([
  [
    "the one that opens a model",
    `SELECT state, expires_at FROM entitlement
     WHERE org_id = ?1 AND model = ?2 AND state = 'active' AND expires_at IS NOT NULL
     ORDER BY expires_at DESC LIMIT 1`,
    "entitlement_active",
  ],
  [
    "open ones",
    "SELECT count(*) FROM entitlement WHERE org_id = ?1 AND state = 'requested'",
    "entitlement_requested",
  ],
  [
    "those of a day",
    "SELECT count(*) FROM entitlement WHERE org_id = ?1 AND created_at > ?2",
    "entitlement_place_of_organization",
  ],
  [
    "active ones",
    "SELECT id FROM entitlement WHERE org_id = ?1 AND state = 'active' AND expires_at > ?2",
    "entitlement_active",
  ],
])("%s are found by their index, without sorting", (_, statement, index) => {
  const plan = store.writer.query(`EXPLAIN QUERY PLAN ${statement}`).values() as unknown[][];
  const steps = plan.map((row) => String(row.at(-1)));
  expect(steps).toEqual([expect.stringContaining(`INDEX ${index}`)]);
});
