import { counted } from "../format/count.ts";

export const paletteTexts = {
  title: "Go to or find",
  hint: "A page, a key, a model, a request id",
  operatorHint: "A page, an organization, a key, a model, a request id",
  results: "Results",
  searching: "Searching",
  nothing: "Nothing is called that. Whole request ids are found, and keys by what they begin with.",
  count: (count: number) => counted(count, "result"),
  moves: "moves",
  opens: "opens",
  closes: "closes",
  escape: "Esc",
  inActivity: (text: string, page: string) => `Find ${text} in ${page}`,
  inActivityHelp: "by completion id or idempotency key",
  operator: "Operator",
  groups: {
    pages: "Pages",
    organization: "Organizations",
    key: "Keys",
    model: "Models",
    request: "Requests",
  },
} as const;
