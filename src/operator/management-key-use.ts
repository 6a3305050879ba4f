// When each management key was last used, so that one that nobody uses is found and revoked. Written at most once a
// minute and key, by this process; requests of `/v1` never come here.
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import type { Sql } from "../store/sql.ts";

const EVERY_MS = 60_000;

interface UsePorts {
  ledger: Pick<Ledger, "authenticateManagementKey">;
  sql: Sql;
  clock: Clock;
  failed: (error: unknown) => void;
}

/** Authenticates as the ledger does, and remembers when. A use that cannot be written down keeps nobody out. */
export function rememberingUse({
  ledger,
  sql,
  clock,
  failed,
}: UsePorts): Pick<Ledger, "authenticateManagementKey"> {
  const written = new Map<string, number>();
  const remember = async (id: string): Promise<void> => {
    const nowMs = clock.nowMs();
    const beforeMs = written.get(id);
    if (beforeMs !== undefined && nowMs - beforeMs < EVERY_MS) return;
    written.set(id, nowMs);
    try {
      await sql.rows(
        `UPDATE management_key SET last_used_at = ?2
         WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at <= ?3)`,
        id,
        nowMs,
        nowMs - EVERY_MS,
      );
    } catch (error) {
      written.delete(id);
      failed(error);
    }
  };
  return {
    async authenticateManagementKey(id, digest) {
      const key = await ledger.authenticateManagementKey(id, digest);
      if (key !== null) await remember(key.id);
      return key;
    },
  };
}
