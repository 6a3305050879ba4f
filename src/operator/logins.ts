// The end of a login of the command line: the key that calls is revoked.
import type { Operator } from "../contract/operator.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { printTime } from "./print.ts";
import { unknownRecord } from "./unknown-record.ts";

export const logins = (ledger: Pick<Ledger, "revokeManagementKey">): Operator["logins"] => ({
  async end(actor) {
    const record = await ledger.revokeManagementKey(actor.id, actor);
    if (record === null || record.revokedAtMs === null)
      throw unknownRecord("management_key", actor.id, "key");
    return { key: record.id, name: record.name, revoked_at: printTime(record.revokedAtMs) };
  },
});
