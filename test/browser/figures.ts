// Amounts between what a person reads on a page and what the ledger has.
import { exactMoney } from "../../dashboard/format/money.ts";
import { formatUsd, type NanoUsd, parseUsd } from "../../src/domain/money.ts";

export function nano(usd: string): NanoUsd {
  const amount = parseUsd(usd);
  if (amount === null) throw new Error(`${usd} is no amount`);
  return amount;
}

/** With every digit, as the pages print what has to add up. */
export const exact = (amount: bigint): string => exactMoney(formatUsd(amount as NanoUsd));

/** `$1,234.50` or `−$0.10`, read back. */
export function amountOf(shown: string): bigint {
  const amount: bigint = nano(shown.replace(/[−$,\s]/g, ""));
  return shown.trim().startsWith("−") ? -amount : amount;
}
