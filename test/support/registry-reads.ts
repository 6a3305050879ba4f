// All rows of a registry's table for one organization, for tests that look at what is stored.
import type { Reader } from "../../src/ledger/ledger.ts";
import { type EntitlementRecord } from "../../src/registry/entitlements.ts";
import { entitlementsInOrder } from "../../src/registry/entitlement-pages.ts";
import { type KeyRecord, readKeysNamed } from "../../src/registry/key-record.ts";
import { ask, textOf } from "../../src/store/sql.ts";

/** Oldest first. */
export const keysOf = (on: Reader, org: string): Promise<KeyRecord[]> =>
  on.read(function* (nowMs) {
    const rows = yield* ask("SELECT key_id FROM api_key WHERE org_id = ?1 ORDER BY created_at, key_id", [
      org,
    ]);
    const ids = rows.map((row) => textOf(row["key_id"]));
    const found = new Map((yield* readKeysNamed(org, ids, nowMs)).map((key) => [key.id, key]));
    return ids.flatMap((id) => found.get(id) ?? []);
  });

/** In the order of their requests. */
export const entitlementsOf = (on: Reader, organizationId: string): Promise<EntitlementRecord[]> =>
  entitlementsInOrder(on, "oldest", { organizationId, after: null, most: 10_000 });
