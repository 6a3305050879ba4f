// What a restore carries over from the store it replaces, as far as that store can be read: whatever was
// meant to be permanent.
import { Database } from "bun:sqlite";
import type { NanoUsd } from "../domain/money.ts";
import { keepReceiptKeys } from "./restore-receipt-keys.ts";
import { keepRevoked } from "./restore-revoked.ts";
import { keepRoutes } from "./restore-routes.ts";
import type { Restoring } from "./restoring.ts";

/** How much of it was not in the backup. */
export interface HeldOn {
  revoked: number;
  routes: number;
  /**
   * Idempotency keys that stood for a request there, and stand for none here: a retry with one of them is a
   * new request.
   */
  retriesAnew: number;
  /** Purchases and grants that are not in the backup, oldest first. */
  creditsGone: CreditGone[];
}

export interface CreditGone {
  org: string;
  kind: "purchase" | "grant";
  amount: NanoUsd;
  /** The service's or the operator's own name of it. */
  reference: string;
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

/** Nobody who paid has these credits any more. */
function creditsGone({ copy, replaced }: Restoring): CreditGone[] {
  const known = copy.query("SELECT 1 FROM topup WHERE org_id = ?1 AND source = ?2 AND external_id = ?3");
  return replaced
    .query<CreditGone & { source: string }, []>(
      "SELECT org_id AS org, source, external_id AS reference, kind, amount FROM topup ORDER BY at, org_id, external_id",
    )
    .all()
    .filter(({ org, source, reference }) => known.get(org, source, reference) === null)
    .map(({ org, kind, amount, reference }) => ({ org, kind, amount, reference }));
}

interface Claim {
  org_id: string;
  request_id: string;
}
