// Pairs of an admission and its settlement on a floor of the ledger, without HTTP.
import type { LeanLedger } from "./lean-books.ts";
import { servePairs } from "./pairs.ts";

/** A floor has one organization and reports only that a request is durable. */
export const serveLeanPairs = ({ admit, settle }: LeanLedger): void =>
  servePairs(async () => async () => {
    await settle(await admit());
  });
