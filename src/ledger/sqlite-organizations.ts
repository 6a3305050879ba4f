// Organizations and their balances on SQLite. An organization begins with an empty balance and the start of its chain.
import type { Actor } from "../contract/actor.ts";
import type { Database } from "bun:sqlite";
import { CHAIN_START } from "./entry-hash.ts";
import type { BalanceRecord, OrganizationRecord } from "./ledger.ts";
import { appendAuditLine, printedValue } from "./sqlite-audit-log.ts";
import { type Cell, int, money, text } from "./sqlite-cell.ts";

export class SqliteOrganizations {
  constructor(private readonly database: Database) {}

  create({ id, name }: { id: string; name: string }, actor: Actor, nowMs: number): OrganizationRecord {
    this.database
      .query("INSERT INTO organization (org_id, name, created_at) VALUES (?1, ?2, ?3)")
      .run(id, name, nowMs);
    this.database
      .query(
        `INSERT INTO org_balance (org_id, slot, available, held, debt, purchased, granted, spent, version, head_hash, stamped_at)
         VALUES (?1, 0, 0, 0, 0, 0, 0, 0, 0, ?2, ?3)`,
      )
      .run(id, CHAIN_START, nowMs);
    const after = printedValue({ name });
    const line = { atMs: nowMs, actor, organizationId: id, target: id, before: null, after };
    appendAuditLine(this.database, { ...line, action: "organization.create" });
    return { id, name, createdAtMs: nowMs };
  }

  all(): OrganizationRecord[] {
    const rows = this.database
      .query("SELECT org_id, name, created_at FROM organization ORDER BY created_at, org_id")
      .values();
    return (rows as Cell[][]).map(organizationOf);
  }

  find(id: string): OrganizationRecord | null {
    const row = this.database
      .query("SELECT org_id, name, created_at FROM organization WHERE org_id = ?1")
      .values(id)[0];
    return row === undefined ? null : organizationOf(row as Cell[]);
  }

  balance(organizationId: string): BalanceRecord | null {
    const row = this.database
      .query(
        `SELECT available, held, spent, purchased, granted, debt FROM org_balance WHERE org_id = ?1 AND slot = 0`,
      )
      .values(organizationId)[0] as Cell[] | undefined;
    if (row === undefined) return null;
    const purchased = money(row[3]);
    return {
      organizationId,
      available: money(row[0]),
      held: money(row[1]),
      spent: money(row[2]),
      purchased,
      granted: money(row[4]),
      debt: money(row[5]),
      paidWorkspace: purchased > 0n,
    };
  }

  /** The organization's newest stamp; 0 when there is no such organization. */
  newestStampMs(organizationId: string): number {
    const row = this.database
      .query("SELECT stamped_at FROM org_balance WHERE org_id = ?1 AND slot = 0")
      .values(organizationId)[0] as Cell[] | undefined;
    return row === undefined ? 0 : int(row[0]);
  }
}

const organizationOf = ([id, name, createdAt]: Cell[]): OrganizationRecord => ({
  id: text(id),
  name: text(name),
  createdAtMs: int(createdAt),
});
