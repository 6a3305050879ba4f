// Audit lines on their way to the log: the embedded store keeps people in a separate file, and no commit
// spans two files. A line is written in the transaction of its change and carried into the log afterwards;
// the log remembers which lines it has, so that a crash in between writes none twice
// (docs/decisions/0087-lines-about-people-are-one-with-their-change.md).
import { DAY_MS } from "../domain/durations.ts";
import type { AuditNote } from "../domain/audit-note.ts";
import { isOverloaded } from "../domain/overloaded.ts";
import { crashPoint } from "../lib/crash-point.ts";
import { randomBase62 } from "../lib/id.ts";
import { auditLine } from "../store/audit-log.ts";
import { numberOf, type Sql, statement, textOf } from "../store/sql.ts";
import { isStoreFailure } from "../store/sqlite-error.ts";

/** What the outbox needs of the people's file. */
interface Kept {
  write(text: string, ...values: (string | number)[]): Promise<number>;
  read(text: string, ...values: (string | number)[]): Promise<Record<string, unknown>[]>;
}

const TABLE = `CREATE TABLE IF NOT EXISTS "auditOutbox" (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, line TEXT NOT NULL) STRICT`;
const AT_ONCE = 100;
/**
 * A backup copies the people's file first, then the log's: the log knows the lines that still wait in the
 * copy.
 */
const REMEMBERED_MS = DAY_MS;

interface Waiting {
  seq: number;
  id: string;
  line: string;
}

export class AuditOutbox {
  constructor(private readonly kept: Kept) {}

  /** Creates the table if it is missing. */
  async prepare(): Promise<void> {
    await this.kept.write(TABLE);
  }

  /** Must run in the transaction of the change that the line is about. */
  async put(note: AuditNote, atMs: number): Promise<void> {
    const line = JSON.stringify({ atMs, ...note }, (_, member: unknown) =>
      typeof member === "bigint" ? member.toString() : member,
    );
    await this.kept.write(`INSERT INTO "auditOutbox" (id, line) VALUES (?1, ?2)`, randomBase62(16), line);
  }

  /** The next lines after `seq`, in the order in which they were written. */
  async after(seq: number): Promise<Waiting[]> {
    const rows = await this.kept.read(
      `SELECT seq, id, line FROM "auditOutbox" WHERE seq > ?1 ORDER BY seq LIMIT ${AT_ONCE}`,
      seq,
    );
    return rows.map((row) => ({
      seq: numberOf(row["seq"]),
      id: textOf(row["id"]),
      line: textOf(row["line"]),
    }));
  }

  async forget(seq: number): Promise<void> {
    await this.kept.write(`DELETE FROM "auditOutbox" WHERE seq = ?1`, seq);
  }
}

export interface CarryPorts {
  /** The ledger's store. */
  sql: Sql;
  nowMs(this: void): number;
  /**
   * Receives the error of a line that cannot be read, or that the log rejects: it is skipped, and stays where
   * it is.
   */
  failed(this: void, error: Error): void;
}

/**
 * Carries the waiting lines into the audit log, in order, each once. Throws if the log accepts nothing; the
 * rest keeps waiting.
 */
export async function carryLines(outbox: AuditOutbox, on: CarryPorts): Promise<void> {
  let last = 0;
  for (;;) {
    const waiting = await outbox.after(last);
    for (const one of waiting) {
      last = one.seq;
      if (await carried(one, on)) await outbox.forget(one.seq);
    }
    if (waiting.length < AT_ONCE) return;
  }
}

async function carried({ id, line }: Waiting, { sql, nowMs, failed }: CarryPorts): Promise<boolean> {
  try {
    const { atMs, ...note } = lineOf(line);
    const now = nowMs();
    await sql.ifChanged(
      statement("INSERT INTO audit_carried (id, carried_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING", id, now),
      [
        auditLine(note, atMs),
        statement("DELETE FROM audit_carried WHERE carried_at < ?1 AND id <> ?2", now - REMEMBERED_MS, id),
      ],
    );
  } catch (error) {
    if (isStoreFailure(error) || isOverloaded(error)) throw error;
    failed(
      new Error(`the audit line ${id} about people could not be copied to the audit log`, { cause: error }),
    );
    return false;
  }
  crashPoint("line_carried");
  return true;
}

/** Throws if the text is not a line. */
function lineOf(text: string): AuditNote & { atMs: number } {
  const line = JSON.parse(text) as Partial<AuditNote & { atMs: number }> | null;
  const { actor, action, target, organizationId, atMs } = line ?? {};
  const isText = (value: unknown): boolean => typeof value === "string";
  const isTextOrNull = (value: unknown): boolean => value === null || isText(value);
  const isLine =
    isText(action) &&
    isText(target) &&
    isTextOrNull(organizationId) &&
    typeof atMs === "number" &&
    isText(actor?.id) &&
    isTextOrNull(actor?.address) &&
    isTextOrNull(actor?.requestId);
  if (!isLine) throw new Error("it is not an audit line");
  return line as AuditNote & { atMs: number };
}
