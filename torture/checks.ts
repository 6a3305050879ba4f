// Everything that must hold after a run, by name; the table prints one line for each check.
import { answers, accidents } from "./checks/answers.ts";
import { closures, limits, refusals, releases, shutKeys } from "./checks/access.ts";
import { bill } from "./checks/bill.ts";
import { concurrency } from "./checks/concurrency.ts";
import { fairness } from "./checks/fairness.ts";
import { clientView } from "./checks/client-view.ts";
import { audits, balances, charges, moneyIn, nothingHeld, quarantines } from "./checks/money.ts";
import { rates } from "./checks/rates.ts";
import { replays } from "./checks/replays.ts";
import type { Check, Evidence, Violation } from "./evidence.ts";

const CHECKS: Record<string, Check> = {
  "ledger audit clean": audits,
  "nothing held, nothing unfinished": nothingHeld,
  "ledger = bill, nothing runs twice": bill,
  "client view = ledger": clientView,
  "replays byte for byte": replays,
  "charges recomputed": charges,
  "only rotten records wait for a person": quarantines,
  "balances never below zero": balances,
  "money in, once": moneyIn,
  "revoked, paused, expired keys refused": shutKeys,
  "closed, not entitled: refused": closures,
  "expired and older releases refused": releases,
  "limits passed by one request at most": limits,
  "no key runs more than it may": concurrency,
  "no key takes more in a minute than it may": rates,
  "a flood slows nobody else down": fairness,
  "refusals have their reason": refusals,
  "answers have their reason": answers,
  "no accidents": accidents,
};

/** Violations by check, in the order of the table. */
export const judge = (evidence: Evidence): Map<string, Violation[]> =>
  new Map(Object.entries(CHECKS).map(([name, check]) => [name, check(evidence)]));
