// Organizations and their balances on PostgreSQL. Whoever changes what admission reads locks the organization's balance
// first, so that per organization there is one order of everything (money.md §7).
import type { Actor } from "../contract/actor.ts";
import { CHAIN_START } from "./entry-hash.ts";
import type { BalanceRecord, OrganizationRecord } from "./ledger.ts";
import { appendAuditLine } from "./postgres-audit-log.ts";
import { type Cell, int, money, text } from "./postgres-cell.ts";
import { type Asking, askOnce } from "./postgres-query.ts";
import { printedValue } from "./sqlite-audit-log.ts";

export async function createOrganization(
  on: Asking,
  { id, name, actor }: { id: string; name: string; actor: Actor },
  nowMs: number,
): Promise<OrganizationRecord> {
  await askOnce(on, "INSERT INTO organization (org_id, name, created_at) VALUES ($1, $2, $3)", [
    id,
    name,
    nowMs,
  ]);
  await askOnce(
    on,
    `INSERT INTO org_balance (org_id, slot, available, held, debt, purchased, granted, spent, version, head_hash, stamped_at)
     VALUES ($1, 0, 0, 0, 0, 0, 0, 0, 0, $2, $3)`,
    [id, CHAIN_START, nowMs],
  );
  const line = {
    atMs: nowMs,
    actor,
    organizationId: id,
    target: id,
    before: null,
    after: printedValue({ name }),
  };
  await appendAuditLine(on, { ...line, action: "organization.create" });
  return { id, name, createdAtMs: nowMs };
}

export async function allOrganizations(on: Asking): Promise<OrganizationRecord[]> {
  const rows = await askOnce(
    on,
    "SELECT org_id, name, created_at FROM organization ORDER BY created_at, org_id",
  );
  return rows.map(organizationOf);
}

export async function findOrganization(on: Asking, id: string): Promise<OrganizationRecord | null> {
  const [row] = await askOnce(on, "SELECT org_id, name, created_at FROM organization WHERE org_id = $1", [
    id,
  ]);
  return row === undefined ? null : organizationOf(row);
}

export async function readBalance(on: Asking, organizationId: string): Promise<BalanceRecord | null> {
  const [row] = await askOnce(
    on,
    "SELECT available, held, spent, purchased, granted, debt FROM org_balance WHERE org_id = $1 AND slot = 0",
    [organizationId],
  );
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

/** The organization's newest stamp, with its balance locked to the end of the transaction; null: there is none. */
export async function lockOrganization(on: Asking, organizationId: string): Promise<number | null> {
  const [row] = await askOnce(
    on,
    "SELECT stamped_at FROM org_balance WHERE org_id = $1 AND slot = 0 FOR UPDATE",
    [organizationId],
  );
  return row === undefined ? null : int(row[0]);
}

/** The organization's newest stamp; 0 when there is no such organization. */
export async function newestStampMs(on: Asking, organizationId: string): Promise<number> {
  const [row] = await askOnce(on, "SELECT stamped_at FROM org_balance WHERE org_id = $1 AND slot = 0", [
    organizationId,
  ]);
  return row === undefined ? 0 : int(row[0]);
}

const organizationOf = ([id, name, createdAt]: Cell[]): OrganizationRecord => ({
  id: text(id),
  name: text(name),
  createdAtMs: int(createdAt),
});
