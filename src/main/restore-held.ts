// What of the store that a backup replaces holds on, as far as that store can be read: what was meant to hold for good.
import { Database } from "bun:sqlite";
import { keepReceiptKeys } from "./restore-receipt-keys.ts";
import { keepRevoked } from "./restore-revoked.ts";
import { keepRoutes } from "./restore-routes.ts";

/** How much of it was not in the backup. */
export interface HeldOn {
  revoked: number;
  routes: number;
}

/** Brings it into the backup's copy. Throws where SQLite cannot read the store at `path`; the copy is as it was then. */
export function holdOn(copy: Database, path: string): HeldOn {
  const replaced = new Database(path, { readonly: true, safeIntegers: true });
  const on = { copy, replaced };
  try {
    return copy.transaction(() => {
      keepReceiptKeys(on);
      return { revoked: keepRevoked(on), routes: keepRoutes(on) };
    })();
  } finally {
    replaced.close();
  }
}
