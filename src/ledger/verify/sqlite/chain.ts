// Reads every organization's balance and entries for the verification, one row at a time (money.md §5).
import type { Database } from "bun:sqlite";
import type { Cell } from "../../cell.ts";
import { selected } from "../../column-loads.ts";
import { ENTRY, LOAD } from "../../columns.ts";
import type { BalanceRow } from "../../rows.ts";
import { ChainVerification, entryOf } from "../chain.ts";
import type { Findings } from "../findings.ts";

/** I1, I2, I5 and I12, organization by organization. */
export function checkChains(database: Database, findings: Findings): void {
  const balances = database
    .query(`SELECT ${selected(LOAD.balance, "b")} FROM org_balance b ORDER BY b.org_id`)
    .values() as Cell[][];
  for (const balance of balances) checkOrganization(database, LOAD.balance.row(balance), findings);
}

function checkOrganization(database: Database, balance: BalanceRow, findings: Findings): void {
  const chain = new ChainVerification(balance.organizationId, findings);
  const rows = database
    .query(
      `SELECT ${selected(ENTRY, "e")} FROM ledger_entry e WHERE e.org_id = ?1 AND e.slot = 0 ORDER BY e.version`,
    )
    .iterate(balance.organizationId) as unknown as Iterable<Record<string, Cell>>;
  for (const row of rows) chain.add(entryOf(Object.values(row)));
  chain.end(balance);
}
