// Organizations: the owners of credits and keys (specification 1). Each begins with an empty balance in the
// ledger.
import type { Actor } from "../domain/actor.ts";
import { openBalance } from "../ledger/balance.ts";
import type { Reader, Transactions } from "../ledger/ledger.ts";
import { appendAuditLine } from "../store/audit-log.ts";
import { ask, hasPart, lock, numberOf, likePatterns, type Query, type SqlRow, textOf } from "../store/sql.ts";

export interface OrganizationRecord {
  id: string;
  name: string;
  createdAtMs: number;
}

/** Creates an organization with an empty balance and its audit line, in one transaction. */
export const createOrganization = (
  on: Transactions,
  { id, name }: { id: string; name: string },
  actor: Actor,
): Promise<OrganizationRecord> => on.change(null, (nowMs) => create({ id, name }, actor, nowMs));

/**
 * The same in a store without organizations; null in any other, also if another gateway creates the first one
 * at the same time.
 */
export const createFirstOrganization = (
  on: Transactions,
  { id, name }: { id: string; name: string },
  actor: Actor,
): Promise<OrganizationRecord | null> =>
  on.change(null, function* (nowMs) {
    yield* lock("SELECT id FROM store_state WHERE id = 1", []);
    const there = yield* ask("SELECT org_id FROM organization LIMIT 1");
    return there.length > 0 ? null : yield* create({ id, name }, actor, nowMs);
  });

function* create(
  { id, name }: { id: string; name: string },
  actor: Actor,
  nowMs: number,
): Query<OrganizationRecord> {
  yield* ask("INSERT INTO organization (org_id, name, created_at) VALUES (?1, ?2, ?3)", [id, name, nowMs]);
  yield* openBalance(id, nowMs);
  const note = { actor, action: "organization.create", organizationId: id, target: id, after: { name } };
  yield* appendAuditLine(note, nowMs);
  return { id, name, createdAtMs: nowMs };
}

/** False if it is no longer called `from`: nothing was changed. */
export const renameOrganization = (
  on: Transactions,
  organizationId: string,
  { from, to, actor }: { from: string; to: string; actor: Actor },
): Promise<boolean> =>
  on.change({ organizationId, by: actor.id }, function* (nowMs) {
    const [renamed] = yield* ask(
      "UPDATE organization SET name = ?3 WHERE org_id = ?1 AND name = ?2 RETURNING org_id",
      [organizationId, from, to],
    );
    if (renamed === undefined) return false;
    const changed = { action: "organization.settings", before: { name: from }, after: { name: to } };
    yield* appendAuditLine({ actor, organizationId, target: organizationId, ...changed }, nowMs);
    return true;
  });

const SELECT = "SELECT org_id, name, created_at FROM organization";

/** Oldest first. */
export const allOrganizations = (on: Reader): Promise<OrganizationRecord[]> =>
  on.read(function* () {
    return (yield* ask(`${SELECT} ORDER BY created_at, org_id`)).map(organizationOf);
  });

/**
 * The organizations created after the one with the id `after` (null: from the first), oldest first, at most
 * `most`. `search`: a part of the name, or an id; empty for all.
 */
export const organizationsAfter = (
  on: Reader,
  { after, search, most }: { after: string | null; search: string; most: number },
): Promise<OrganizationRecord[]> =>
  on.read(function* () {
    const parts = likePatterns(search);
    const places = parts.map((_, n) => `?${3 + n}`);
    const rows = yield* ask(
      `${SELECT} WHERE ${after === null ? "?1 = ''" : AFTER}
         AND (?2 = '' OR ${hasPart(["name"], places)} OR org_id = ?2)
       ORDER BY created_at, org_id LIMIT ${most}`,
      [after ?? "", search, ...parts],
    );
    return rows.map(organizationOf);
  });
/** By the place of that row, not by its time: a damaged time ends no list. */
const AFTER = `(created_at, org_id) > (SELECT last.created_at, last.org_id FROM organization last WHERE last.org_id = ?1)`;

/** Null if there is none. */
export const findOrganization = (on: Reader, id: string): Promise<OrganizationRecord | null> =>
  on.read(function* () {
    const [row] = yield* ask(`${SELECT} WHERE org_id = ?1`, [id]);
    return row === undefined ? null : organizationOf(row);
  });

const organizationOf = (row: SqlRow): OrganizationRecord => ({
  id: textOf(row["org_id"]),
  name: textOf(row["name"]),
  createdAtMs: numberOf(row["created_at"]),
});
