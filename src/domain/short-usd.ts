// An amount in a sentence: short enough to read, never zero for what is not. Where it has to add up, `formatUsd` prints it.
import type { NanoUsd } from "./money.ts";

const PLACES = 9;
const CENTS = 2;

/** Cents, or as many places as the first two digits need, rounded half up: `1067000n` → `"$0.0011"`. */
export function shortUsd(amount: NanoUsd): string {
  const size = amount < 0n ? 0n - amount : amount;
  const first = PLACES - size.toString().length;
  const places = Math.min(PLACES, size >= 10n ** BigInt(PLACES) ? CENTS : Math.max(CENTS, first + 2));
  const unit = 10n ** BigInt(PLACES - places);
  const digits = ((size + unit / 2n) / unit).toString().padStart(places + 1, "0");
  const fraction = digits.slice(-places).replace(/0+$/, "").padEnd(CENTS, "0");
  const whole = digits.slice(0, -places).replaceAll(/\B(?=(\d{3})+$)/g, ",");
  return `${amount < 0n ? "−" : ""}$${whole}.${fraction}`;
}
