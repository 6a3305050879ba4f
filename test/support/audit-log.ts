// Reads the audit log as it is stored, the newest line first.
import type { Reader } from "../../src/ledger/ledger.ts";
import { ask, numberOf, orNull, textOf } from "../../src/store/sql.ts";

/** One line of the append-only audit log (S40). */
export interface AuditLogRecord {
  at: number;
  actor: string;
  /** The caller's address; null if no call caused it. */
  address: string | null;
  requestId: string | null;
  action: string;
  organizationId: string | null;
  target: string;
  before: string | null;
  after: string | null;
}

const SELECT = "SELECT * FROM audit_log WHERE CAST(?1 AS text) IS NULL OR org_id = ?1";

export const auditLog = (
  ledger: Reader,
  { organizationId = null, limit }: { organizationId?: string | null; limit: number },
): Promise<AuditLogRecord[]> =>
  ledger.read(function* () {
    const inOrder = {
      sqlite: `${SELECT} ORDER BY seq DESC LIMIT ?2`,
      postgresql: `${SELECT} ORDER BY id DESC LIMIT ?2`,
    };
    return (yield* ask(inOrder, [organizationId, limit])).map((row) => ({
      at: numberOf(row["at"]),
      actor: textOf(row["actor"]),
      address: orNull(row["address"], textOf),
      requestId: orNull(row["request_id"], textOf),
      action: textOf(row["action"]),
      organizationId: orNull(row["org_id"], textOf),
      target: textOf(row["target"]),
      before: orNull(row["value_before"], textOf),
      after: orNull(row["value_after"], textOf),
    }));
  });
