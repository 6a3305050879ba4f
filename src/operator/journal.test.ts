// The journal under a flood and over time: it has room for so much, and forgets what is old.
import { afterEach, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import type { JournalEntry } from "../contract/journal.ts";
import { JOURNAL_SCHEMA } from "../store/migrations/0004-journal.ts";
import { JOURNAL_KEYS_SCHEMA } from "../store/migrations/0008-journal-keys.ts";
import { JOURNAL_WAITS_SCHEMA } from "../store/migrations/0011-uses-and-waits.ts";
import { sqliteSql } from "../store/sqlite-sql.ts";
import { Journal } from "./journal.ts";

const DAY_MS = 86_400_000;
const writer = new Database(":memory:", { safeIntegers: true });
writer.run(JOURNAL_SCHEMA + JOURNAL_KEYS_SCHEMA + JOURNAL_WAITS_SCHEMA);
let nowMs = 40 * DAY_MS;
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
const journal = new Journal(sqliteSql({ writer }), clock, () => {});
afterEach(() => journal.flush());

const entry = (requestId: string): JournalEntry => ({
  requestId,
  organizationId: "org_1",
  keyId: "key_1",
  kind: "refused",
  atMs: nowMs,
  status: 400,
  code: "invalid_request",
  model: null,
  stream: false,
  replayOf: null,
  waitedMs: null,
  idempotencyKey: null,
});
const rows = (): number => writer.query("SELECT 1 FROM journal").values().length;

test("it keeps 500 between two writes, counts the rest, and writes an id once", async () => {
  for (let i = 0; i < 600; i++) journal.note(entry(`req_${i}`));
  expect(journal.forgotten).toBe(100);
  await journal.flush();
  journal.note(entry("req_0"));
  await journal.flush();
  expect(rows()).toBe(500);
});

test("entries older than 30 days go", async () => {
  nowMs += 31 * DAY_MS;
  journal.note(entry("req_new"));
  await journal.flush();
  expect(rows()).toBe(1);
  await journal.stop();
});
