// Management keys on SQLite: as API keys, digests only, compared in constant time (hardening.md S3).
import type { Actor } from "../contract/actor.ts";
import type { Database } from "bun:sqlite";
import { isOpen, sameDigest } from "./decide-key.ts";
import type { Ledger, ManagementKeyRecord } from "./ledger.ts";
import { appendAuditLine, printedValue } from "./sqlite-audit-log.ts";
import { type Cell, bytes, int, intOrNull, text } from "./sqlite-cell.ts";

export type NewManagementKey = Parameters<Ledger["createManagementKey"]>[0];

const COLUMNS = "id, name, prefix, created_at, expires_at, revoked_at, digest";
const NO_DIGEST = new Uint8Array(32);

export class SqliteManagementKeys {
  constructor(private readonly database: Database) {}

  create(key: NewManagementKey, actor: Actor, nowMs: number): ManagementKeyRecord {
    const { id, name, prefix, digest, login } = key;
    const expiresAtMs = login === undefined ? null : nowMs + login.livesMs;
    this.database
      .query(
        `INSERT INTO management_key (id, name, prefix, digest, created_at, expires_at, login_of)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`,
      )
      .run(id, name, prefix, digest, nowMs, expiresAtMs, login?.personId ?? null);
    this.log(id, { actor, action: "management_key.create", after: printedValue({ name, prefix }) }, nowMs);
    return { id, name, prefix, createdAtMs: nowMs, expiresAtMs, revokedAtMs: null };
  }

  /** Null for unknown, wrong, revoked and expired alike. */
  authenticate(id: string, digest: Uint8Array, nowMs: number): ManagementKeyRecord | null {
    const row = this.row(id);
    const matches = sameDigest(row === null ? NO_DIGEST : bytes(row[6]), digest);
    if (row === null || !matches) return null;
    const key = managementKeyOf(row);
    return isOpen(key, nowMs) ? key : null;
  }

  revoke(id: string, actor: Actor, nowMs: number): ManagementKeyRecord | null {
    const row = this.row(id);
    if (row === null) return null;
    const key = managementKeyOf(row);
    if (key.revokedAtMs !== null) return key;
    this.database.query("UPDATE management_key SET revoked_at = ?2 WHERE id = ?1").run(id, nowMs);
    const after = printedValue({ revoked_at: new Date(nowMs).toISOString() });
    this.log(id, { actor, action: "management_key.revoke", after }, nowMs);
    return { ...key, revokedAtMs: nowMs };
  }

  private row(id: string): Cell[] | null {
    const rows = this.database.query(`SELECT ${COLUMNS} FROM management_key WHERE id = ?1`).values(id);
    return (rows[0] as Cell[] | undefined) ?? null;
  }

  private log(id: string, line: { actor: Actor; action: string; after: string }, nowMs: number): void {
    appendAuditLine(this.database, { ...line, atMs: nowMs, organizationId: null, target: id, before: null });
  }
}

const managementKeyOf = ([
  id,
  name,
  prefix,
  createdAt,
  expiresAt,
  revokedAt,
]: Cell[]): ManagementKeyRecord => ({
  id: text(id),
  name: text(name),
  prefix: text(prefix),
  createdAtMs: int(createdAt),
  expiresAtMs: intOrNull(expiresAt),
  revokedAtMs: intOrNull(revokedAt),
});
