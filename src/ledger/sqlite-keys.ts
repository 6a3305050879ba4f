// API keys on SQLite: made, edited, revoked for good. Stored is the digest, never the key (hardening.md S1); when a key
// was last used is derived from its months, so that no request writes for it.
import type { Actor } from "../contract/actor.ts";
import type { Database } from "bun:sqlite";
import type { Tier } from "../contract/gateway-object.ts";
import { ZERO_USD, formatUsd } from "../contract/money.ts";
import { utcMonth } from "../lib/clock.ts";
import { editKey, type KeyEdit } from "./key-edit.ts";
import type { KeyRecord, Ledger } from "./ledger.ts";
import { appendAuditLine, printedValue } from "./sqlite-audit-log.ts";
import { type Cell, int, intOrNull, money, moneyOrNull, text } from "./sqlite-cell.ts";
import type { SqliteOrganizations } from "./sqlite-organizations.ts";
import { stampOf } from "./stamp.ts";

export type NewKey = Parameters<Ledger["createKey"]>[0];

const SELECT_KEY = `
  SELECT k.key_id, k.org_id, k.name, k.prefix, k.scope, k.limit_nano, k.created_at, k.revoked_at,
    (SELECT max(last_admitted_at) FROM key_month m WHERE m.org_id = k.org_id AND m.key_id = k.key_id),
    m.spent, m.held
  FROM api_key k LEFT JOIN key_month m ON m.org_id = k.org_id AND m.key_id = k.key_id AND m.month = ?1`;

export class SqliteKeys {
  constructor(
    private readonly database: Database,
    private readonly organizations: SqliteOrganizations,
  ) {}

  /** Null when there is no such organization. */
  create(key: NewKey, actor: Actor, nowMs: number): KeyRecord | null {
    if (this.organizations.find(key.organizationId) === null) return null;
    this.database
      .query(
        `INSERT INTO api_key (org_id, key_id, name, prefix, digest, scope, limit_nano, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
      )
      .run(key.organizationId, key.id, key.name, key.prefix, key.digest, key.scope, key.limit, nowMs);
    const { name, prefix, scope, limit } = key;
    const limit_usd = limit === null ? null : formatUsd(limit);
    this.log(
      key,
      { actor, action: "key.create", after: printedValue({ name, prefix, scope, limit_usd }) },
      nowMs,
    );
    return this.find(key.id, nowMs);
  }

  revoke(keyId: string, actor: Actor, nowMs: number): KeyRecord | null {
    const key = this.find(keyId, nowMs);
    if (key === null || key.revokedAtMs !== null) return key;
    // Never before a request it already admitted, however far the clock was set back (I15).
    const revokedAtMs = Math.max(nowMs, this.organizations.newestStampMs(key.organizationId));
    this.database
      .query("UPDATE api_key SET revoked_at = ?3 WHERE org_id = ?1 AND key_id = ?2")
      .run(key.organizationId, keyId, revokedAtMs);
    const after = printedValue({ revoked_at: new Date(revokedAtMs).toISOString() });
    this.log(key, { actor, action: "key.revoke", after }, nowMs);
    return { ...key, revokedAtMs };
  }

  edit(
    keyId: string,
    edit: KeyEdit & { actor: Actor },
    nowMs: number,
  ): KeyRecord | "changed_meanwhile" | null {
    const key = this.find(keyId, nowMs);
    if (key === null) return null;
    const edited = editKey(key, edit);
    if (edited === "changed_meanwhile") return edited;
    const { name, limit, lines } = edited;
    if (lines.length > 0)
      this.database
        .query("UPDATE api_key SET name = ?3, limit_nano = ?4 WHERE org_id = ?1 AND key_id = ?2")
        .run(key.organizationId, keyId, name, limit);
    for (const line of lines) this.log(key, { actor: edit.actor, ...line }, nowMs);
    return { ...key, name, limit };
  }

  ofOrganization(organizationId: string, nowMs: number): KeyRecord[] {
    const month = this.monthOf(organizationId, nowMs);
    const rows = this.database
      .query(`${SELECT_KEY} WHERE k.org_id = ?2 ORDER BY k.created_at, k.key_id`)
      .values(month, organizationId);
    return (rows as Cell[][]).map((row) => keyOf(row, month));
  }

  find(keyId: string, nowMs: number): KeyRecord | null {
    const owner = this.database.query("SELECT org_id FROM api_key WHERE key_id = ?1").values(keyId)[0];
    if (owner === undefined) return null;
    const month = this.monthOf(owner[0] as string, nowMs);
    const row = this.database.query(`${SELECT_KEY} WHERE k.key_id = ?2`).values(month, keyId)[0];
    return row === undefined ? null : keyOf(row as Cell[], month);
  }

  private monthOf(organizationId: string, nowMs: number): string {
    return utcMonth(stampOf(nowMs, this.organizations.newestStampMs(organizationId)));
  }

  private log(
    key: { id: string; organizationId: string },
    line: { actor: Actor; action: string; before?: string; after: string },
    nowMs: number,
  ): void {
    const { organizationId, id } = key;
    appendAuditLine(this.database, { before: null, ...line, atMs: nowMs, organizationId, target: id });
  }
}

function keyOf(row: Cell[], month: string): KeyRecord {
  const [id, organizationId, name, prefix, scope, limit, createdAt, revokedAt, lastUsedAt, spent, held] = row;
  return {
    id: text(id),
    organizationId: text(organizationId),
    name: text(name),
    prefix: text(prefix),
    scope: scope as Tier,
    limit: moneyOrNull(limit),
    month,
    monthSpend: spent === null ? ZERO_USD : money(spent),
    held: held === null ? ZERO_USD : money(held),
    createdAtMs: int(createdAt),
    lastUsedAtMs: intOrNull(lastUsedAt),
    revokedAtMs: intOrNull(revokedAt),
  };
}
