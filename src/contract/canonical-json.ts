// One spelling for all JSON texts of equal meaning: members sorted by UTF-16 code units, no blanks, numbers as
// ECMAScript prints them (the form of RFC 8785). Input of the idempotency fingerprint (money.md §3).

/** Prints a value that came out of JSON; equal values give equal text whatever the order of their members. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const object = value as Record<string, unknown>;
  let text = "";
  for (const key of Object.keys(object).sort()) {
    if (object[key] === undefined) continue;
    text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(object[key])}`;
  }
  return `{${text}}`;
}
