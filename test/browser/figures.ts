// Converts between the amounts that a person reads on a page and those of the ledger.
import { exactMoney } from "../../dashboard/format/money.ts";
import { formatUsd, type NanoUsd, parseUsd } from "../../src/domain/money.ts";

export function nano(usd: string): NanoUsd {
  const amount = parseUsd(usd);
  if (amount === null) throw new Error(`${usd} is no amount`);
  return amount;
}

/** With all digits, as the pages print what must add up. */
export const exact = (amount: bigint): string => exactMoney(formatUsd(amount as NanoUsd));

/** Parses `$1,234.50` or `−$0.10`. */
export function amountOf(shown: string): bigint {
  const amount: bigint = nano(shown.replace(/[−$,\s]/g, ""));
  return shown.trim().startsWith("−") ? -amount : amount;
}
