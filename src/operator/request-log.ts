// Logs requests that held nothing: gathered in memory, written once a second in one transaction, never on the
// request path. A flood of refusals must not fill the store: beyond a quota they are counted in one row.
import { DAY_MS, HOUR_MS } from "../domain/durations.ts";
import type { RequestLogEntry } from "../domain/request-log.ts";
import { isOverloaded } from "../domain/overloaded.ts";
import type { Clock } from "../lib/clock.ts";
import type { Jobs } from "../lib/jobs.ts";
import { type Sql, type Statement, statement } from "../store/sql.ts";
import { RequestLogQuota, type RequestLogRow } from "../limits/request-log-quota.ts";

const FLUSH_MS = 1000;
const ROOM = 500;
const KEPT_MS = 30 * DAY_MS;
const SWEEP_EVERY_MS = HOUR_MS;
/** The most rows deleted by one write; the next write continues. */
const SWEPT_AT_ONCE = 5_000;

/** `note` never waits; unwritten entries are lost if the process is killed, while `stop` writes them. */
export class RequestLog {
  /** By the id of the row's first request. */
  private waiting = new Map<string, RequestLogRow>();
  private readonly quota = new RequestLogQuota();
  private readonly flushing;
  /** The current or last write. */
  private writing: Promise<void> = Promise.resolve();
  private sweptAtMs = 0;
  /** Entries dropped for lack of room since the start. */
  forgotten = 0;

  constructor(
    private readonly sql: Sql,
    private readonly clock: Clock,
    private readonly jobs: Jobs,
  ) {
    this.flushing = jobs.every("journal", FLUSH_MS, () => this.flush());
  }

  note(entry: RequestLogEntry): void {
    this.put(this.quota.rowOf(entry, this.clock.nowMs()));
  }

  /** Counting rows are always kept: there are few of them, and they stand for many requests. */
  private put(row: RequestLogRow): void {
    const { requestId } = row.entry;
    if (row.counts || this.waiting.size < ROOM) this.waiting.set(requestId, row);
    else this.forgotten++;
  }

  /**
   * Writes what waits now: for readers who must see their own request, and for the stop. Rows of a write
   * under way are stored when it resolves, too: writes run one at a time, whatever the outcome of the
   * previous one.
   */
  flush(): Promise<void> {
    const mine = this.writing.then(() => this.write());
    this.writing = mine.catch(() => undefined);
    return mine;
  }

  private async write(): Promise<void> {
    const rows = [...this.waiting.values()];
    this.waiting = new Map();
    const statements = rows.map(upsert);
    const sweeps = this.clock.nowMs() - this.sweptAtMs > SWEEP_EVERY_MS;
    if (sweeps) statements.push(sweep(this.clock.nowMs()));
    if (statements.length === 0) return;
    try {
      const changed = await this.sql.together(statements);
      if (sweeps && (changed.at(-1) ?? 0) < SWEPT_AT_ONCE) this.sweptAtMs = this.clock.nowMs();
    } catch (error) {
      // If the store is unreachable, the rows wait for the next run, as far as there is room.
      if (isOverloaded(error)) for (const row of rows) this.put(row);
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.flushing.stop();
    await this.flush().catch((error: unknown) => this.jobs.failed("journal", error));
  }
}

const sweep = (nowMs: number): Statement =>
  statement(
    "DELETE FROM journal WHERE request_id IN (SELECT request_id FROM journal WHERE at < ?1 ORDER BY at LIMIT ?2)",
    nowMs - KEPT_MS,
    SWEPT_AT_ONCE,
  );

/** A counting row is written whole on each count, so that writing it twice changes nothing. */
function upsert({ entry, requests, lastAtMs }: RequestLogRow): Statement {
  const { bounds, model, stream } = entry.asked;
  return statement(
    `INSERT INTO journal (request_id, org_id, key_id, kind, at, status, code, model, stream, replay_of,
       idempotency_key, waited_ms, requests, last_at, prompt_bound, prompt_counted, output_bound, hold, details, surface)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)
     ON CONFLICT (request_id) DO UPDATE SET key_id = excluded.key_id, model = excluded.model,
       stream = excluded.stream, replay_of = excluded.replay_of, idempotency_key = excluded.idempotency_key,
       waited_ms = excluded.waited_ms, requests = excluded.requests, last_at = excluded.last_at,
       prompt_bound = excluded.prompt_bound, prompt_counted = excluded.prompt_counted,
       output_bound = excluded.output_bound, hold = excluded.hold, details = excluded.details,
       surface = excluded.surface
     WHERE excluded.requests > journal.requests`,
    entry.requestId,
    entry.organizationId,
    entry.keyId,
    entry.kind,
    entry.atMs,
    entry.status,
    entry.code,
    model,
    stream ? 1 : 0,
    entry.replayOf,
    entry.idempotencyKey,
    entry.waitedMs,
    requests,
    lastAtMs,
    bounds?.promptTokens ?? null,
    bounds === null ? null : Number(bounds.counted),
    bounds?.outputTokens ?? null,
    bounds?.hold ?? null,
    entry.details,
    entry.surface,
  );
}
