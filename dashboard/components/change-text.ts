// Formats a change against the previous period, with as many digits as are meaningful.
import { changeTexts as words } from "./texts.ts";

/** Turns `1602` percent more into the factor `17`, with digit grouping. */
const timesOf = (more: string): string =>
  (BigInt(more) / 100n + 1n).toString().replaceAll(/\B(?=(\d{3})+$)/g, ",");

/** `▲ 20.0 %`; whole percents from twice as much, `▲ 419 %`; a factor from ten times as much, `▲ 17 ×`. */
export function changeText(percent: string | null): string {
  if (percent === null) return words.new;
  const size = percent.replace(/^[+-]/, "");
  if (/^[0.]+$/.test(size)) return words.same;
  const [whole = "", tenth = ""] = size.split(".");
  if (whole.length >= 4) return `▲ ${timesOf(whole)} ×`;
  return `${percent.startsWith("-") ? "▼" : "▲"} ${whole.length < 3 ? `${whole}.${tenth}` : whole} %`;
}
