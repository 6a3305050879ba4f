// What a restore carries over from the store it replaces, as far as that store can be read: whatever was
// meant to be permanent.
import { Database } from "bun:sqlite";
import {
  chargedAgain,
  type CreditGone,
  creditsGone,
  type ReversalGone,
  reversalsGone,
} from "./restore-money.ts";
import { type ChangedSince, changedSince } from "./restore-changes.ts";
import { keepReceiptKeys } from "./restore-receipt-keys.ts";
import { keepRevoked } from "./restore-revoked.ts";
import { keepRoutes } from "./restore-routes.ts";
import { columnNames, type Restoring } from "./restoring.ts";

/** How much of it was not in the backup. */
export interface HeldOn {
  revoked: number;
  routes: number;
  /**
   * Idempotency keys that belonged to a request there and belong to none here: a retry with one of them is a new
   * request.
   */
  retriesAnew: number;
  creditsGone: CreditGone[];
  reversalsGone: ReversalGone[];
  /** Keys that were paused after the backup, as `key_… of org_…`. */
  keysUnpaused: string[];
  /** Organizations whose card can be charged again although they switched that off after the backup. */
  chargedAgain: string[];
  /** What else was set up, changed or ended since. */
  since: ChangedSince;
}

/**
 * Writes it into the backup's copy. If SQLite cannot read the store at `path`, throws and leaves the copy
 * unchanged.
 */
export function holdOn(copy: Database, path: string): HeldOn {
  const replaced = new Database(path, { readonly: true, safeIntegers: true });
  const on = { copy, replaced };
  try {
    return copy.transaction(() => {
      keepReceiptKeys(on);
      return {
        revoked: keepRevoked(on),
        routes: keepRoutes(on),
        retriesAnew: claimsGone(on),
        creditsGone: creditsGone(on),
        reversalsGone: reversalsGone(on),
        keysUnpaused: keysUnpaused(on),
        chargedAgain: chargedAgain(on),
        since: changedSince(on),
      };
    })();
  } finally {
    replaced.close();
  }
}

/** Claims are purged after their time, requests never: requests missing from the copy came after it. */
function claimsGone({ copy, replaced }: Restoring): number {
  const known = copy.query("SELECT 1 FROM request WHERE org_id = ?1 AND request_id = ?2");
  let gone = 0;
  for (const claim of replaced.query("SELECT org_id, request_id FROM claim").iterate() as Iterable<Claim>)
    if (known.get(claim.org_id, claim.request_id) === null) gone += 1;
  return gone;
}

/** Keys that were paused after the backup and are active again. Keys that were revoked after it stay revoked. */
function keysUnpaused({ copy, replaced }: Restoring): string[] {
  const pauses = (database: Database): boolean => columnNames(database, "api_key").includes("paused_at");
  if (!pauses(replaced)) return [];
  const active = copy.query("SELECT 1 FROM api_key WHERE key_id = ?1 AND revoked_at IS NULL");
  return replaced
    .query<{ key: string; org: string }, []>(
      "SELECT key_id AS key, org_id AS org FROM api_key WHERE paused_at IS NOT NULL ORDER BY org_id, key_id",
    )
    .all()
    .filter(({ key }) => active.get(key) !== null)
    .map(({ key, org }) => `${key} of ${org}`);
}

interface Claim {
  org_id: string;
  request_id: string;
}
