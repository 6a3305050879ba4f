// JSON text that survives every client's line splitter: some readers of event streams (httpx `iter_lines`) treat U+0085, U+2028 and
// U+2029 as line ends, so they are escaped. wire.md §3.1.

const LINE_ENDS = /[\u0085\u2028\u2029]/;
const EACH_LINE_END = /[\u0085\u2028\u2029]/g;

/** `JSON.stringify` on one line, whatever the strings contain. */
export const wireJson = (value: unknown): string => wireLine(JSON.stringify(value));

/** The same for JSON text that is already on one line. */
export function wireLine(text: string): string {
  if (!LINE_ENDS.test(text)) return text;
  return text.replace(EACH_LINE_END, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
