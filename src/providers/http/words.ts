// Makes a provider's own words about a failure fit to keep and to show: short, on one line, without what identifies
// our account there or a caller's prompt (S14, S36). They are for the record, the log and the operator, never for a
// caller's answer: clients match on words (wire.md §4.1).

const CHARACTERS_READ = 4_000;
const CHARACTERS_MAX = 300;
/** Shorter quotes name fields and values; longer ones quote the caller's text. */
const QUOTE_MAX = 40;
const SECRET_MIN = 6;

const REDACTED: readonly [RegExp, string][] = [
  [/\b[a-z][a-z0-9+.-]{1,20}:\/\/\S+|\bwww\.\S+/gi, "[address]"],
  [/\bbearer\s+\S+/gi, "[key]"],
  [/\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}/g, "[mail]"],
  [/\bAIza[\w-]{10,}|\bA[KS]IA\w{12,}/g, "[key]"],
  // A prefix, then something masked or with a digit: keys, organizations, projects, teams, accounts.
  [
    /\b(?:sk|pk|rk|gsk|xai|ghp|key|api|org|proj|team|acct|acc|user|tenant|account|project)[-_](?=[\w.-]*[\d*])[\w*.…-]{5,}/gi,
    "[id]",
  ],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "[id]"],
  [/\b(?=\w*\d)(?=\w*[a-z])\w{24,}\b/gi, "[id]"],
  [/\b(?:\d{1,3}\.){3}\d{1,3}\b/g, "[address]"],
  [/\b\d{10,}\b/g, "[number]"],
  [
    new RegExp(`"[^"]{${QUOTE_MAX + 1},}"|'[^']{${QUOTE_MAX + 1},}'|\`[^\`]{${QUOTE_MAX + 1},}\``, "g"),
    '"…"',
  ],
];

/** Returns one line of at most 300 characters; null if nothing is left. `secrets` are what we sent there in headers. */
export function fitToShow(text: string, secrets: readonly string[]): string | null {
  let words = text.slice(0, CHARACTERS_READ).toWellFormed();
  for (const secret of secrets) if (secret.length >= SECRET_MIN) words = words.replaceAll(secret, "[key]");
  for (const [pattern, instead] of REDACTED) words = words.replace(pattern, instead);
  words = words
    .replace(/\s+/g, " ")
    .replace(/[\p{Cc}\p{Cf}]/gu, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`)
    .trim();
  if (words === "") return null;
  return words.length > CHARACTERS_MAX ? `${words.slice(0, CHARACTERS_MAX - 1).toWellFormed()}…` : words;
}
