// Reads every organization's balance and entries for the audit, one row at a time (money.md §5).
import type { Database } from "bun:sqlite";
import { ChainAudit } from "../chain.ts";
import type { Findings } from "../findings.ts";
import type { Account, EntryKind, EntryRow } from "../../rows.ts";
import { bytes, type Cell, int, money, text, textOrNull } from "../../sqlite/cell.ts";

export function auditChains(database: Database, findings: Findings): void {
  const balances = database
    .query(
      `SELECT org_id, available, held, debt, purchased, granted, spent, version, head_hash FROM org_balance ORDER BY org_id`,
    )
    .values() as Cell[][];
  for (const balance of balances) auditOrganization(database, balance, findings);
}

function auditOrganization(database: Database, balance: Cell[], findings: Findings): void {
  const organizationId = text(balance[0]);
  const chain = new ChainAudit(organizationId, findings);
  const rows = database
    .query(
      `SELECT version, txn, kind, debit, credit, amount, available_before, available_after, held_before, held_after,
         requests, reference, at, prev_hash, hash, slot
       FROM ledger_entry WHERE org_id = ?1 AND slot = 0 ORDER BY version`,
    )
    .iterate(organizationId) as unknown as Iterable<Record<string, Cell>>;
  for (const row of rows) chain.add(entryOf(organizationId, Object.values(row)));
  chain.end({
    available: money(balance[1]),
    held: money(balance[2]),
    debt: money(balance[3]),
    purchased: money(balance[4]),
    granted: money(balance[5]),
    spent: money(balance[6]),
    version: int(balance[7]),
    headHash: bytes(balance[8]),
  });
}

function entryOf(organizationId: string, row: Cell[]): EntryRow {
  return {
    organizationId,
    version: int(row[0]),
    txn: int(row[1]),
    kind: text(row[2]) as EntryKind,
    debit: text(row[3]) as Account,
    credit: text(row[4]) as Account,
    amount: money(row[5]),
    availableBefore: money(row[6]),
    availableAfter: money(row[7]),
    heldBefore: money(row[8]),
    heldAfter: money(row[9]),
    requests: int(row[10]),
    reference: textOrNull(row[11]),
    atMs: int(row[12]),
    prevHash: bytes(row[13]),
    hash: bytes(row[14]),
    slot: int(row[15]),
  };
}
