// A change against the time before, in as many digits as say something.
import { changeTexts as words } from "./texts.ts";

/** Of `1602` percent more: `17`, grouped. */
const timesOf = (more: string): string =>
  (BigInt(more) / 100n + 1n).toString().replaceAll(/\B(?=(\d{3})+$)/g, ",");

/** `▲ 20.0 %`; from twice as much on whole percents, `▲ 419 %`; from ten times on how many times as much it is: `▲ 17 ×`. */
export function changeText(percent: string | null): string {
  if (percent === null) return words.new;
  const size = percent.replace(/^[+-]/, "");
  if (/^[0.]+$/.test(size)) return words.same;
  const [whole = "", tenth = ""] = size.split(".");
  if (whole.length >= 4) return `▲ ${timesOf(whole)} ×`;
  return `${percent.startsWith("-") ? "▼" : "▲"} ${whole.length < 3 ? `${whole}.${tenth}` : whole} %`;
}
