// A line of the audit log, and how its values are formatted.
import { exactMoney, formatMoney } from "../../format/money.ts";
import { formatDay } from "../../format/time.ts";

/** Plain text, and highlighted names. */
export type Part = string | { name: string };
export type Values = Readonly<Record<string, unknown>>;
/** A line's values before and after; empty if there were none, or if they are damaged. */
export interface Line {
  before: Values;
  after: Values;
  /** The target by its name; for a refund, the request. */
  it: Part;
  /** The reference of the credits: the operator's own, or the payment's. */
  reference: Part;
}

export const named = (text: unknown): Part => ({
  name: typeof text === "string" ? text : JSON.stringify(text),
});
export const textOf = (value: unknown): string =>
  value === null || value === undefined ? "none" : typeof value === "string" ? value : JSON.stringify(value);
export const usd = (value: unknown): string => (typeof value === "string" ? formatMoney(value) : "none");
export const because = (reason: unknown): Part[] => (typeof reason === "string" ? [`: ${reason}`] : []);
export const fromTo = (before: unknown, after: unknown): Part[] => [
  " from ",
  named(before),
  " to ",
  named(after),
];
/** With all digits if the two would look the same. */
export function available({ before, after }: Line): string {
  const [was, is] = [before["available_usd"], after["available_usd"]];
  if (typeof was !== "string" || typeof is !== "string") return "";
  const print = formatMoney(was) === formatMoney(is) ? exactMoney : formatMoney;
  return `; available went from ${print(was)} to ${print(is)}`;
}

export const whenOf = (time: unknown): string[] =>
  typeof time === "string" ? [` on ${formatDay(time)}`] : [];
