// Prints an amount for a sentence: short, and never zero if the amount is not. Amounts that have to add up are printed with
// `formatUsd`.
import { decimalText, type NanoUsd } from "./money.ts";

const PLACES = 9;
const CENTS = 2;

/** Prints cents, or as many places as the first two digits need, rounded half up: `1067000n` → `"$0.0011"`. */
export function shortUsd(amount: NanoUsd): string {
  const size = amount < 0n ? 0n - amount : amount;
  const first = PLACES - size.toString().length;
  const places = Math.min(PLACES, size >= 10n ** BigInt(PLACES) ? CENTS : Math.max(CENTS, first + 2));
  const unit = 10n ** BigInt(PLACES - places);
  const digits = ((size + unit / 2n) / unit).toString().padStart(places + 1, "0");
  return inWords(amount, `${digits.slice(0, -places)}.${digits.slice(-places).replace(/0+$/, "")}`);
}

/** Prints every digit, for an amount next to its threshold: rounded, it could appear on the other side. `600000n` → `"$0.0006"`. */
export const preciseUsd = (amount: NanoUsd): string =>
  inWords(amount, decimalText(amount < 0n ? 0n - amount : amount, PLACES));

function inWords(amount: NanoUsd, size: string): string {
  const [whole = "", fraction = ""] = size.split(".");
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ",");
  return `${amount < 0n ? "−" : ""}$${grouped}.${fraction.padEnd(CENTS, "0")}`;
}
