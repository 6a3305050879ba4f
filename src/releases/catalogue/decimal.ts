// Exact decimals of any size that a price table may contain, read from the number's text: no price ever
// becomes a binary float. Manifest prices are rounded up to nine decimals, so that a customer's price is
// never below the intended one.

/** `digits` × 10^-`scale`, never negative. */
export interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

const LITERAL = /^(\d{1,40})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,3}))?$/;
/** No price is written with more zeros than this. */
const EXPONENT_MAX = 40;
const PLACES = 9;

/** `digits` × 10^-`scale`. */
export const exactly = (digits: bigint, scale = 0): Decimal => ({ digits, scale });

/** Reads the literal of a JSON number or a decimal string; null for a sign, NaN, or an exponent beyond ±40. */
export function readDecimal(text: string): Decimal | null {
  const match = LITERAL.exec(text);
  if (match === null) return null;
  const [, whole = "", fraction = "", power = "0"] = match;
  const exponent = Number(power);
  if (Math.abs(exponent) > EXPONENT_MAX) return null;
  return exactly(BigInt(whole + fraction), fraction.length - exponent);
}

export const isZero = ({ digits }: Decimal): boolean => digits === 0n;
export const product = (a: Decimal, b: Decimal): Decimal => exactly(a.digits * b.digits, a.scale + b.scale);
/** Multiplied by 10^`power`. */
export const shifted = ({ digits, scale }: Decimal, power: number): Decimal => exactly(digits, scale - power);
/** The price of a million tokens, given the price of one. */
export const perMillion = (perToken: Decimal): Decimal => shifted(perToken, 6);

/** Negative, 0 or positive, as `a` is less than, equal to or greater than `b`. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const [left, right] = atOneScale(a, b);
  return left === right ? 0 : left < right ? -1 : 1;
}

/** The larger of the two; `a` if they are equal. */
export const larger = (a: Decimal, b: Decimal): Decimal => (compareDecimals(a, b) < 0 ? b : a);

/** Both as integers of the same unit. */
function atOneScale(a: Decimal, b: Decimal): [bigint, bigint] {
  const scale = Math.max(a.scale, b.scale);
  return [a.digits * 10n ** BigInt(scale - a.scale), b.digits * 10n ** BigInt(scale - b.scale)];
}

/** The quotient, rounded up to nine decimals; null if `b` is zero. */
export function quotient(a: Decimal, b: Decimal): Decimal | null {
  const [left, right] = atOneScale(a, b);
  return right === 0n ? null : exactly(dividedUp(left * 10n ** BigInt(PLACES), right), PLACES);
}

/** The precision of a manifest: at most nine decimals, rounded up. */
export function toNinePlaces(exact: Decimal): Decimal {
  return exact.scale <= PLACES
    ? exact
    : exactly(dividedUp(exact.digits, 10n ** BigInt(exact.scale - PLACES)), PLACES);
}

/** Plain digits without an exponent or trailing zeros: `0.25`, `3`, `0.0000375`. */
export function printDecimal({ digits, scale }: Decimal): string {
  if (scale <= 0) return (digits * 10n ** BigInt(-scale)).toString();
  const text = digits.toString().padStart(scale + 1, "0");
  const fraction = text.slice(-scale).replace(/0+$/, "");
  return fraction === "" ? text.slice(0, -scale) : `${text.slice(0, -scale)}.${fraction}`;
}

const dividedUp = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;
