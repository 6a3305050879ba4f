// What of the store that a backup replaces holds on, as far as that store can be read: what was meant to hold for good.
import { Database } from "bun:sqlite";
import { keepReceiptKeys } from "./restore-receipt-keys.ts";
import { keepRevoked } from "./restore-revoked.ts";
import { keepRoutes } from "./restore-routes.ts";
import type { Restoring } from "./restoring.ts";

/** How much of it was not in the backup. */
export interface HeldOn {
  revoked: number;
  routes: number;
  /** Keys of callers that stood for a request there, and stand for none here: a retry under one of them is a new request. */
  retriesAnew: number;
}

/** Brings it into the backup's copy. Throws where SQLite cannot read the store at `path`; the copy is as it was then. */
export function holdOn(copy: Database, path: string): HeldOn {
  const replaced = new Database(path, { readonly: true, safeIntegers: true });
  const on = { copy, replaced };
  try {
    return copy.transaction(() => {
      keepReceiptKeys(on);
      return { revoked: keepRevoked(on), routes: keepRoutes(on), retriesAnew: claimsGone(on) };
    })();
  } finally {
    replaced.close();
  }
}

/** Claims are purged with their time, requests never: what the copy does not know came after it. */
function claimsGone({ copy, replaced }: Restoring): number {
  const known = copy.query("SELECT 1 FROM request WHERE org_id = ?1 AND request_id = ?2");
  let gone = 0;
  for (const claim of replaced.query("SELECT org_id, request_id FROM claim").iterate() as Iterable<Claim>)
    if (known.get(claim.org_id, claim.request_id) === null) gone += 1;
  return gone;
}

interface Claim {
  org_id: string;
  request_id: string;
}
