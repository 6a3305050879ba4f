// Ends a login of the command line: revokes the calling key.
import type { EndedLoginJson } from "../api/shapes/records.ts";
import type { Actor } from "../domain/actor.ts";
import type { Transactions } from "../ledger/ledger.ts";
import { printTime } from "../domain/print.ts";
import { unknownRecord } from "../domain/unknown-record.ts";
import { revokeManagementKey } from "../registry/management-keys.ts";

export const logins = (ledger: Transactions) => ({
  /** Revokes the calling management key. */
  async end(actor: Actor): Promise<EndedLoginJson> {
    const record = await revokeManagementKey(ledger, actor.id, actor);
    if (record === null || record.revokedAtMs === null) throw unknownRecord("management_key", actor.id, null);
    return { key: record.id, name: record.name, revoked_at: printTime(record.revokedAtMs) };
  },
});
