// JSON as a model reads it, for exact counts: without the escapes that the wire adds.

const ESCAPE = /\\(?:u([0-9a-f]{4})|(.))/g;
const ESCAPED: Record<string, string> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** Returns the JSON text of a value without its escapes; never longer than the text itself. */
export const unescaped = (value: unknown): string =>
  JSON.stringify(value).replaceAll(ESCAPE, (_, code: string | undefined, letter: string) =>
    code === undefined ? (ESCAPED[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16)),
  );
