// What every store must guarantee, however it is implemented (money.md §2, §4, §7, §8, §10): the same tables run on
// each. Amounts are dollars.
import { holdsConformance } from "./conformance/holds.ts";
import { loweredHoldsConformance } from "./conformance/lowered-holds.ts";
import { moneyBackConformance } from "./conformance/money-back.ts";
import { topUpsConformance } from "./conformance/top-ups.ts";
import { keysConformance } from "./conformance/keys.ts";
import { permissionsConformance } from "./conformance/permissions.ts";
import { idempotencyConformance } from "./conformance/idempotency.ts";
import { recordsConformance } from "./conformance/records.ts";
import { crashConformance } from "./conformance/crash.ts";
import { Harness } from "./conformance/harness.ts";
import type { OpenLedger } from "./world.ts";

/** One file per topic, in `conformance/`. */
export function ledgerConformance(store: string, open: OpenLedger): void {
  const on = new Harness(store, open);
  holdsConformance(on);
  loweredHoldsConformance(on);
  moneyBackConformance(on);
  topUpsConformance(on);
  keysConformance(on);
  permissionsConformance(on);
  idempotencyConformance(on);
  recordsConformance(on);
  crashConformance(on);
}
