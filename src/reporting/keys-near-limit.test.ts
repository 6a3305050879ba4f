// All keys of an organization at or near a limit are read, and none with room left.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import type { Reader } from "../ledger/ledger.ts";
import { readKeysNamed } from "../registry/key-record.ts";
import { migrate } from "../store/migrate.ts";
import { type Query, type SqlRow, type SqlValue, textIn } from "../store/sql.ts";
import { sqliteSql } from "../store/sqlite-sql.ts";
import { limitStanding } from "./key-limit.ts";
import { keysNearLimit, keySteps } from "./keys-near-limit.ts";

const NOW_MS = Date.UTC(2031, 2, 10, 10);
const LIMIT = 1_000_000_007n;
const writer = new Database(":memory:", { safeIntegers: true });
migrate(writer);
for (const org of ["org_a", "org_b"])
  writer.run("INSERT INTO organization (org_id, name, created_at) VALUES (?1, 'x', 0)", [org]);

interface Made {
  limit: bigint | null;
  dayLimit?: bigint;
  revokedAt?: number;
  spent: bigint;
  held: bigint;
}
let made = 0;
function key({ limit, dayLimit, revokedAt, spent, held }: Made): void {
  made += 1;
  const id = `key_${String(made).padStart(4, "0")}`;
  writer.run(
    `INSERT INTO api_key (key_id, org_id, name, prefix, digest, scope, created_at, limit_nano, day_limit_nano, revoked_at)
     VALUES (?1, 'org_a', 'k', 'gw_sk_', zeroblob(32), 'standard', 0, ?2, ?3, ?4)`,
    [id, limit, dayLimit ?? null, revokedAt ?? null],
  );
  writer.run(
    `INSERT INTO key_month (org_id, key_id, month, held, spent, last_admitted_at) VALUES ('org_a', ?1, '2031-03', ?2, ?3, 0)`,
    [id, held, spent],
  );
}
const ninth = (LIMIT * 9n) / 10n;
for (const spent of [0n, 5n, ninth - 100n, ninth, ninth + 1n, LIMIT - 1n, LIMIT, LIMIT * 2n])
  for (const held of [0n, 1n, 99n, LIMIT]) {
    key({ limit: LIMIT, spent, held });
    key({ limit: LIMIT, spent, held, revokedAt: 1 });
    key({ limit: null, spent, held });
  }
for (const limit of [0n, 1n, 9n, 10n, 2n ** 62n]) key({ limit, spent: limit, held: 0n });
key({ limit: null, dayLimit: 0n, spent: 0n, held: 0n });
for (let n = 0; n < 300; n += 1) key({ limit: LIMIT, spent: 0n, held: 0n });

const read: SqlRow[] = [];
const ledger = {
  read: async <T>(work: (nowMs: number) => Query<T>): Promise<T> => {
    const asked = work(NOW_MS);
    let next = asked.next();
    while (!next.done) {
      const { values } = next.value;
      const rows = writer.query(textIn("sqlite", next.value)).all(...(values as SqlValue[])) as SqlRow[];
      read.push(...rows);
      next = asked.next(rows);
    }
    return next.value;
  },
} as Reader;
const on = { sql: sqliteSql({ writer }), ledger, clock: { nowMs: () => NOW_MS, monotonicMs: () => 0 } };

test("every key at or near a limit is included, as its own record says, and keys with room are not read", async () => {
  const ids = writer.query<{ key_id: string }, []>(
    "SELECT key_id FROM api_key WHERE org_id = 'org_a' ORDER BY created_at, key_id",
  );
  const named = ids.all().map(({ key_id }) => key_id);
  const records = new Map(
    (await ledger.read(() => readKeysNamed("org_a", named, NOW_MS))).map((key) => [key.id, key]),
  );
  const all = named.flatMap((id) => records.get(id) ?? []);
  const wanted = all.filter((one) => limitStanding(one) !== null).map(({ id }) => id);
  expect(wanted.length).toBeGreaterThan(20);
  read.length = 0;
  const found = await keysNearLimit(on, "org_a");
  expect(found.filter((one) => limitStanding(one) !== null).map(({ id }) => id)).toEqual(wanted);
  expect(read.length).toBeLessThan(50);
  const [first = ""] = wanted;
  expect((await keysNearLimit(on, "org_a", first)).map(({ id }) => id)).toEqual([first]);
});

test("a new organization's missing steps are found without reading its keys", async () => {
  expect(await keySteps(on.sql, "org_a")).toEqual({ key: true, first_request: true });
  expect(await keySteps(on.sql, "org_b")).toEqual({ key: false, first_request: false });
});
