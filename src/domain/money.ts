// Money is a branded bigint of nano-USD (10⁻⁹ USD). It is converted to text only here; a JSON number is printed from that text,
// never computed as a float. money.md §1 and §6.

declare const nano: unique symbol;
/** An amount in nano-USD; negative only if it is meant as a difference. */
export type NanoUsd = bigint & { readonly [nano]: "usd" };

/** A whole number of nano-USD as money. Checks nothing: for amounts that were read or computed as such. */
export const nanoUsd = (amount: bigint): NanoUsd => amount as NanoUsd;
export const ZERO_USD = nanoUsd(0n);
export const NANO_PER_USD = 1_000_000_000n;
/** The largest amount one row may hold: 63 bits, about $9.2 bn. */
export const MAX_NANO_USD = nanoUsd(9_223_372_036_854_775_807n);

const DECIMAL = /^(0|[1-9]\d{0,9})(?:\.(\d{1,9}))?$/;

/**
 * Reads a decimal string of US dollars with at most nine decimals ("5", "0.0001") exactly.
 * Returns null for everything else: signs, exponents, blanks, more decimals, more than the row maximum.
 */
export function parseUsd(text: string): NanoUsd | null {
  const match = DECIMAL.exec(text);
  if (match === null) return null;
  const amount = BigInt(match[1] ?? "0") * NANO_PER_USD + BigInt((match[2] ?? "").padEnd(9, "0"));
  return amount > MAX_NANO_USD ? null : nanoUsd(amount);
}

/** Prints an amount as a decimal string of US dollars with exactly nine places: `5000000000n` → `"5.000000000"`. */
export function formatUsd(amount: NanoUsd): string {
  return withPoint(amount, 9);
}

/** The digits with a decimal point before the last `places` of them. */
function withPoint(value: bigint, places: number): string {
  if (value < 0n) return `-${withPoint(-value, places)}`;
  const digits = value.toString();
  const whole = digits.length - places;
  return whole > 0 ? `${digits.slice(0, whole)}.${digits.slice(whole)}` : `0.${digits.padStart(places, "0")}`;
}

/** Prints an exact decimal with `places` decimals, without trailing zeros: `1250n` of 4 places → `"0.125"`. */
export function decimalText(value: bigint, places: number): string {
  return shortened(withPoint(value, places));
}

const ZERO = 48;
const POINT = 46;

/** Drops trailing zeros of the fraction, and the point if nothing follows it. */
function shortened(decimal: string): string {
  let end = decimal.length;
  while (decimal.charCodeAt(end - 1) === ZERO) end -= 1;
  if (decimal.charCodeAt(end - 1) === POINT) end -= 1;
  return decimal.slice(0, end);
}

/**
 * Prints an amount as a JSON number literal of US dollars without trailing zeros: `133500n` → `0.0001335`.
 * For the one field of the wire that is a number, `gateway.cost.customer_charge_usd` (specification 2.2).
 */
export function usdJsonNumber(amount: NanoUsd): string {
  return decimalText(amount, 9);
}

export const minUsd = (a: NanoUsd, b: NanoUsd): NanoUsd => (a < b ? a : b);
export const maxUsd = (a: NanoUsd, b: NanoUsd): NanoUsd => (a > b ? a : b);
export const addUsd = (a: NanoUsd, b: NanoUsd): NanoUsd => (a + b) as NanoUsd;
/** Negative if `b` is larger; callers that must not go below zero compare first. */
export const subUsd = (a: NanoUsd, b: NanoUsd): NanoUsd => (a - b) as NanoUsd;
export const sumUsd = (amounts: readonly NanoUsd[]): NanoUsd => amounts.reduce(addUsd, ZERO_USD);
