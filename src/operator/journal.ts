// Keeps the journal of requests that held nothing: gathered in memory, written once a second in one transaction, never
// on a request's way. Beyond its room entries are forgotten and counted: a flood of refusals must not fill the store.
import type { JournalEntry } from "../contract/journal.ts";
import { isOverloaded } from "../contract/overloaded.ts";
import type { Clock } from "../lib/clock.ts";
import { every } from "../lib/every.ts";
import { type Sql, type Statement, statement } from "../store/sql.ts";

const FLUSH_MS = 1000;
const ROOM = 500;
const KEPT_MS = 30 * 86_400_000;
const SWEEP_EVERY_MS = 3_600_000;

export class Journal {
  private waiting: JournalEntry[] = [];
  private readonly flushing;
  private sweptAtMs = 0;
  /** Entries that found no room since the start. */
  forgotten = 0;

  constructor(
    private readonly sql: Sql,
    private readonly clock: Clock,
    private readonly failed: (error: unknown) => void,
  ) {
    this.flushing = every(FLUSH_MS, () => this.flush(), failed);
  }

  note(entry: JournalEntry): void {
    if (this.waiting.length < ROOM) this.waiting.push(entry);
    else this.forgotten++;
  }

  /** Writes what waits now: for readers who must see their own request, and for the stop. */
  async flush(): Promise<void> {
    const entries = this.waiting;
    this.waiting = [];
    const nowMs = this.clock.nowMs();
    const statements = entries.map(insert);
    if (nowMs - this.sweptAtMs > SWEEP_EVERY_MS) {
      this.sweptAtMs = nowMs;
      statements.push(statement("DELETE FROM journal WHERE at < ?1", nowMs - KEPT_MS));
    }
    if (statements.length === 0) return;
    try {
      await this.sql.together(statements);
    } catch (error) {
      if (isOverloaded(error)) this.putBack(entries);
      throw error;
    }
  }

  /** A store that is away gets them with the next run, as far as there is room. */
  private putBack(entries: JournalEntry[]): void {
    const kept = [...entries, ...this.waiting];
    this.waiting = kept.slice(0, ROOM);
    this.forgotten += kept.length - this.waiting.length;
  }

  async stop(): Promise<void> {
    await this.flushing.stop();
    await this.flush().catch(this.failed);
  }
}

const insert = (entry: JournalEntry): Statement =>
  statement(
    `INSERT INTO journal (request_id, org_id, key_id, kind, at, status, code, model, stream, replay_of,
       idempotency_key, waited_ms)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT DO NOTHING`,
    entry.requestId,
    entry.organizationId,
    entry.keyId,
    entry.kind,
    entry.atMs,
    entry.status,
    entry.code,
    entry.model,
    entry.stream ? 1 : 0,
    entry.replayOf,
    entry.idempotencyKey,
    entry.waitedMs,
  );
