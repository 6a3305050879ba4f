// Formats money: decimal strings in, decimal strings out; never a `Number`, so no digit is lost.

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

/**
 * Two decimal places, or as many as the first two significant digits need: `"0.001067000"` → `"$0.0011"`. Returns
 * anything but a decimal string unchanged.
 */
export function formatMoney(usd: string): string {
  const parts = split(usd);
  if (parts === null) return usd;
  const { sign, whole, fraction } = parts;
  const first = fraction.search(/[1-9]/);
  const places = /[1-9]/.test(whole) || first === -1 ? 2 : Math.max(2, first + 2);
  const [rounded, decimals] = round({ whole, fraction }, places);
  const shown = decimals.replace(/0+$/, "").padEnd(2, "0");
  const negative = sign === "-" && /[1-9]/.test(rounded + decimals) ? "−" : "";
  return `${negative}$${grouped(rounded)}.${shown}`;
}

/** All significant digits, for the tooltip and the clipboard: `"0.001067000"` → `"$0.001067"`. */
export function exactMoney(usd: string): string {
  const parts = split(usd);
  if (parts === null) return usd;
  const shown = parts.fraction.replace(/0+$/, "").padEnd(2, "0");
  return `${parts.sign === "-" ? "−" : ""}$${grouped(parts.whole)}.${shown}`;
}

/** True of any way to write none: `"0"`, `"0.000000000"`. */
export const isZero = (usd: string): boolean => !/[1-9]/.test(usd);
export const isNegative = (usd: string): boolean => usd.startsWith("-") && !isZero(usd);

/** `a − b` or `a + b` of two decimal strings, exact to the ninth place. */
export const addMoney = (a: string, b: string): string => printNano(nano(a) + nano(b));
export const subMoney = (a: string, b: string): string => printNano(nano(a) - nano(b));
export const compareMoney = (a: string, b: string): number => {
  const difference = nano(a) - nano(b);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
};

/** `part` of `whole` in percent from 0 to 100, for bars only, not for amounts. */
export function percentOf(part: string, whole: string): number {
  const total = nano(whole);
  if (total <= 0n) return nano(part) > 0n ? 100 : 0;
  const tenths = (nano(part) * 1000n) / total;
  return tenths <= 0n ? 0 : tenths >= 1000n ? 100 : Number(tenths) / 10;
}

/** The height of a bar in a chart, where a float is enough. */
export const heightOf = (usd: string): number => Number.parseFloat(usd);
/** A height on the axis and in the tooltip: `5e-7` → `$0.0000005`. */
export const formatHeight = (height: number): string => formatMoney(height.toFixed(9));

function nano(usd: string): bigint {
  const parts = split(usd);
  if (parts === null) return 0n;
  const amount = BigInt(parts.whole + parts.fraction.slice(0, 9).padEnd(9, "0"));
  return parts.sign === "-" ? -amount : amount;
}

function printNano(amount: bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(10, "0");
  return `${amount < 0n ? "-" : ""}${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

function split(usd: string): { sign: string; whole: string; fraction: string } | null {
  const match = DECIMAL.exec(usd);
  return match === null ? null : { sign: match[1] ?? "", whole: match[2] ?? "0", fraction: match[3] ?? "" };
}

/** Rounds half away from zero. */
function round({ whole, fraction }: { whole: string; fraction: string }, places: number): [string, string] {
  const kept = BigInt(whole + fraction.slice(0, places).padEnd(places, "0"));
  const up = (fraction[places] ?? "0") >= "5" ? 1n : 0n;
  const digits = (kept + up).toString().padStart(places + 1, "0");
  return [digits.slice(0, -places), digits.slice(-places)];
}

const grouped = (whole: string): string => whole.replace(/^0+(?=\d)/, "").replace(/\B(?=(\d{3})+$)/g, ",");
