// Texts that would have an effect if a page took them for markup, script, style or a template; each fits into a name
// of a hundred characters, with a word that says where it was written.
export const PAYLOADS = [
  "<script>window.__xss=1</script>",
  '"><img src=x onerror="window.__xss=1">',
  "'><svg onload=window.__xss=1>",
  "javascript:window.__xss=1//",
  "{{constructor.constructor('window.__xss=1')()}}${window.__xss=1}",
  "</style><style>*{background:url(//evil.example/x)}</style>",
  "</textarea></title><iframe srcdoc='<script>parent.__xss=1</script>'>",
  "txt\u200B.exe <b onclick=window.__xss=1>b</b>",
  "W".repeat(88),
] as const;

/** Reverses the direction of what follows: names cannot contain it, but a provider's answer can. */
export const TURNED = "\u202Etxt.exe\u202C";

/** Marks where a payload was written, so that a page cannot show one for another. */
export const written = (payload: string, as: Kind): string => `${payload} ${as}`;
export const all = (as: Kind): string[] => PAYLOADS.map((payload) => written(payload, as));
export type Kind =
  | "organization"
  | "person"
  | "key"
  | "operator key"
  | "model"
  | "reference"
  | "reason"
  | "project"
  | "purpose"
  | "note"
  | "closed"
  | "channel"
  | "host";

/** Markup that only a payload can bring, as its source; must be empty. */
export const ALIVE = `[
  ...document.querySelectorAll(
    "script:not([src]), iframe, object, embed, img[src=x], svg[onload], [onerror], [onload], [onclick]," +
      "[href^='javascript:' i], [src^='javascript:' i]",
  ),
].map((element) => element.outerHTML.slice(0, 160))
  .concat(window.__xss === undefined ? [] : ["the canary: " + window.__xss])
  .concat(getComputedStyle(document.body).backgroundImage === "none" ? [] : ["a background"])`;

/** The text that a person can read, fields included. */
export const READABLE = `[
  document.body.innerText,
  ...[...document.querySelectorAll("input, textarea")].map(({ value }) => value),
].join("\\n")`;
