// One turn of the event loop reads a key once, and sees what was written since.
import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { placeMigratedStore } from "../../../test/support/migrated-store.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nextTurn } from "../../lib/turn.ts";
import { openSqliteStore } from "../../store/sqlite.ts";
import { SqliteConnection } from "./connection.ts";
import { NO_RATE_DEFAULTS } from "../../domain/rate-limits.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-keys-"));
placeMigratedStore(folder);
const store = openSqliteStore(folder);
const connection = new SqliteConnection(store, { rateDefaults: NO_RATE_DEFAULTS });
const { keys } = connection;
store.writer.run("INSERT INTO organization (org_id, name, created_at) VALUES ('org_a', 'A', 0)");
for (const key of ["key_1", "key_2"])
  store.writer.run(
    `INSERT INTO api_key (org_id, key_id, name, prefix, digest, scope, created_at)
     VALUES ('org_a', ?1, 'k', 'p', ?2, 'standard', 0)`,
    [key, Buffer.alloc(32, 7)],
  );
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true });
});
const revokedAt = (key: string): number | null | undefined => keys.read("org_a", key)?.revokedAtMs;

test("a key is read once in a turn, and again in the next", async () => {
  await nextTurn();
  expect(revokedAt("key_1")).toBeNull();
  const another = new Database(join(folder, "tollgate.sqlite"));
  another.run("UPDATE api_key SET revoked_at = 5 WHERE key_id = 'key_1'");
  another.close();
  expect(revokedAt("key_1")).toBeNull();
  await nextTurn();
  expect(revokedAt("key_1")).toBe(5);
});

test("another key, another organization's key and a missing key are never confused with it", () => {
  expect(keys.read("org_a", "key_1")?.keyId).toBe("key_1");
  expect(keys.read("org_a", "key_2")?.keyId).toBe("key_2");
  expect(keys.read("org_b", "key_2")).toBeUndefined();
  expect(keys.read("org_b", "key_2")).toBeUndefined();
  expect(keys.read("org_a", "key_2")?.keyId).toBe("key_2");
});

test("this process's own writes are visible in the same turn", () => {
  expect(revokedAt("key_2")).toBeNull();
  connection.begin();
  store.writer.run("UPDATE api_key SET revoked_at = 6 WHERE key_id = 'key_2'");
  connection.commit();
  expect(revokedAt("key_2")).toBe(6);
});
