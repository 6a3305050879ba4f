// The request log under a flood and over time: its room is limited, and old entries are deleted.
import { afterEach, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import type { RequestLogEntry } from "../domain/request-log.ts";
import { jobsOnStderr } from "../lib/jobs.ts";
import { overloaded } from "../domain/overloaded.ts";
import { SEVERAL_SURFACES } from "../domain/surfaces.ts";
import type { Statement } from "../store/sql.ts";
import { migrate } from "../store/migrate.ts";
import { sqliteSql } from "../store/sqlite-sql.ts";
import { RequestLog } from "./request-log.ts";

const DAY_MS = 86_400_000;
const writer = new Database(":memory:", { safeIntegers: true });
migrate(writer);
let nowMs = 40 * DAY_MS;
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
const log = new RequestLog(sqliteSql({ writer }), clock, jobsOnStderr());
afterEach(() => log.flush());

let ids = 0;
const entry = (changes: Partial<RequestLogEntry> = {}): RequestLogEntry => ({
  requestId: `req_${String(ids++).padStart(8, "0")}`,
  organizationId: "org_1",
  keyId: "key_1",
  kind: "refused",
  atMs: nowMs,
  status: 400,
  code: "invalid_request",
  surface: "chat.completions",
  asked: { model: "m", stream: false, bounds: null },
  details: null,
  replayOf: null,
  waitedMs: null,
  idempotencyKey: null,
  ...changes,
});
const MINUTE_MS = 60_000;
const rows = (): number => writer.query("SELECT 1 FROM journal").values().length;
/** An organization's rows, the requests counted in them, and the rows that count several. */
const told = (organizationId: string): { rows: number; requests: number; counting: number } => {
  const [row] = writer
    .query(
      `SELECT count(*), COALESCE(sum(requests), 0), COALESCE(sum(requests > 1), 0) FROM journal WHERE org_id = ?1`,
    )
    .values(organizationId) as [bigint, bigint, bigint][];
  const [all, requests, counting] = (row ?? []).map(Number);
  return { rows: all ?? 0, requests: requests ?? 0, counting: counting ?? 0 };
};

test("a minute of one key has 20 rows and one more that counts the rest, however often it is written", async () => {
  for (let i = 0; i < 300; i++) {
    log.note(entry());
    if (i % 50 === 0) await log.flush();
  }
  await log.flush();
  await log.flush();
  expect(told("org_1")).toEqual({ rows: 21, requests: 300, counting: 1 });
  nowMs += MINUTE_MS;
  log.note(entry());
  await log.flush();
  expect(told("org_1")).toEqual({ rows: 22, requests: 301, counting: 1 });
});

test("a reader during a write finds what the write had taken", async () => {
  const store = sqliteSql({ writer });
  const allowed = Promise.withResolvers<void>();
  let writes = 0;
  const slow = {
    ...store,
    together: async (statements: readonly Statement[]) => {
      if (writes++ === 0) await allowed.promise;
      return await store.together(statements);
    },
  };
  const organizationId = "org_slow_store";
  const late = new RequestLog(slow, clock, jobsOnStderr());
  late.note(entry({ organizationId }));
  const going = late.flush();
  await Bun.sleep(0);
  let found: number | null = null;
  const asked = late.flush().then(() => (found = told(organizationId).rows));
  await Bun.sleep(5);
  expect(found).toBeNull();
  allowed.resolve();
  await Promise.all([going, asked]);
  expect(Number(found)).toBe(1);
  await late.stop();
});

test("a row that counts requests to several surfaces names none of them, even if it was written before", async () => {
  const organizationId = "org_surfaces";
  for (let i = 0; i < 30; i++) log.note(entry({ organizationId }));
  await log.flush();
  const counting = (): unknown[] =>
    writer
      .query("SELECT surface FROM journal WHERE org_id = ?1 AND requests > 1")
      .values(organizationId)
      .flat();
  expect(counting()).toEqual(["chat.completions"]);
  log.note(entry({ organizationId, surface: "messages" }));
  await log.flush();
  expect(counting()).toEqual([SEVERAL_SURFACES]);
});

test("a hundred keys, codes and repeated requests of one organization stay within its quota", async () => {
  const codes = ["a", "b", "c"];
  for (let i = 0; i < 5_000; i++) {
    const kind = i % 4 === 0 ? "replay" : "refused";
    const code = kind === "replay" ? null : (codes[i % 3] ?? null);
    const replayOf = kind === "replay" ? `req_of_${i}` : null;
    log.note(entry({ organizationId: "org_2", keyId: `key_${i % 100}`, kind, code, replayOf }));
    if (i % 500 === 0) await log.flush();
  }
  await log.flush();
  const { rows: written, requests } = told("org_2");
  expect(requests).toBe(5_000);
  expect(written).toBeLessThanOrEqual(60 + 20 + 4);
  const [several] = writer
    .query("SELECT key_id, replay_of, code FROM journal WHERE org_id = 'org_2' AND key_id = '' LIMIT 1")
    .values() as [string, string | null, string | null][];
  expect(several?.[1] ?? null).toBeNull();
});

test("a day of one organization has 2000 rows, then one a minute", async () => {
  for (let minute = 0; minute < 150; minute++) {
    for (let i = 0; i < 25; i++) log.note(entry({ organizationId: "org_3", keyId: `key_${i % 2}` }));
    await log.flush();
    nowMs += MINUTE_MS;
  }
  const { rows: written, requests } = told("org_3");
  expect(requests).toBe(150 * 25);
  expect(written).toBe(2_000 + 2 * 70);
});

test("beyond 600 rows a minute of the gateway is counted, and no other count is lost", async () => {
  nowMs += MINUTE_MS;
  for (let i = 0; i < 100; i++)
    for (let n = 0; n < 10; n++) log.note(entry({ organizationId: `org_many_${i}` }));
  await log.flush();
  const all = Array.from({ length: 100 }, (_, i) => told(`org_many_${i}`));
  expect(all.reduce((sum, { requests }) => sum + requests, 0) + log.forgotten).toBe(1_000);
  expect(all.every(({ requests }) => requests > 0 || log.forgotten > 0)).toBe(true);
});

test("an unavailable store gets the counts when it is back", async () => {
  nowMs += MINUTE_MS;
  let away = true;
  const sql = sqliteSql({ writer });
  const flaky = new RequestLog(
    {
      ...sql,
      together: (all) => (away ? Promise.reject(overloaded()) : sql.together(all)),
    },
    clock,
    jobsOnStderr(),
  );
  for (let i = 0; i < 30; i++) flaky.note(entry({ organizationId: "org_away" }));
  expect(flaky.flush()).rejects.toThrow();
  for (let i = 0; i < 30; i++) flaky.note(entry({ organizationId: "org_away" }));
  away = false;
  await flaky.stop();
  expect(told("org_away")).toEqual({ rows: 21, requests: 60, counting: 1 });
});

test("entries older than 30 days are deleted, some with each write", async () => {
  const many = rows();
  nowMs += 31 * DAY_MS;
  log.note(entry());
  await log.flush();
  expect(many).toBeGreaterThan(1);
  expect(rows()).toBe(1);
  await log.stop();
});
