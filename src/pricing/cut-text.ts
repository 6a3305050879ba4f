// Cuts a text to its longest beginning with at most a given number of tokens, for answers that exceeded their maximum.

/** Counts the tokens of the texts together. */
export type CountText = (texts: readonly string[]) => Promise<number>;

/** The maximum UTF-8 bytes of one UTF-16 unit, and so its maximum tokens. */
const TOKENS_PER_CHARACTER_MAX = 3;
/** How close the cut comes to the last token that fits, as a fraction of the text kept: each step costs another count. */
const PRECISION = 256;

/** Returns the longest beginning within `tokens`, or up to 1/256 less; never ends inside a surrogate pair. */
export async function firstTokens(text: string, tokens: number, count: CountText): Promise<string> {
  const fits = async (length: number): Promise<boolean> => (await count([text.slice(0, length)])) <= tokens;
  let kept = Math.min(text.length, Math.floor(tokens / TOKENS_PER_CHARACTER_MAX));
  let tooLong = text.length + 1;
  for (let length = kept * 2 + 1; length < tooLong && length <= text.length; length = kept * 2 + 1) {
    if (await fits(length)) kept = length;
    else tooLong = length;
  }
  if (tooLong > text.length && (await fits(text.length))) return text;
  tooLong = Math.min(tooLong, text.length);
  while (tooLong - kept > 1 + kept / PRECISION) {
    const middle = Math.floor((kept + tooLong) / 2);
    if (await fits(middle)) kept = middle;
    else tooLong = middle;
  }
  return text.slice(0, kept).replace(/[\ud800-\udbff]$/, "");
}
