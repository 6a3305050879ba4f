// What a generation of Claude takes in a request and what it answers with 400 (providers.md §7): the vendor changes these
// with its models, not with its API's version. Data by family and version, read off the name that the upstream is called by;
// a deployment whose name says nothing is told by the provider's settings.

export const THINKING_STYLES = ["adaptive", "budget"] as const;
export const THINKING_OFF = ["omit", "disabled", "between_tools", "never"] as const;

export interface Contract {
  /** How thinking is asked for: by an effort, the model decides how much; or by a budget of tokens. */
  thinking: (typeof THINKING_STYLES)[number];
  /** How it is switched off: by saying nothing, by a word, or not at all. */
  thinkingOff: (typeof THINKING_OFF)[number];
  /** Whether the text of its thoughts has to be asked for. */
  display: boolean;
  /** `temperature` and `top_p`: one of them beside the other, either alone, or neither. */
  sampling: "both" | "either" | "none";
  /** Whether a call of a tool can be demanded. */
  forcedTools: boolean;
  /** Its thoughts belong to the conversation before them: behind another one they are refused, unless told to be dropped. */
  bound: boolean;
  /** A word of whoever runs the conversation may stand in the middle of it, as a turn of its own. */
  systemTurns: boolean;
}

const NEWEST = {
  thinking: "adaptive",
  display: true,
  sampling: "none",
  forcedTools: true,
  systemTurns: true,
} as const;

const FIRST_ADAPTIVE: Contract = {
  ...NEWEST,
  display: false,
  thinkingOff: "omit",
  sampling: "either",
  bound: false,
  systemTurns: false,
};

/** By family, newest first: from this version on. As the vendor's migration guides have it up to October 2026. */
const GENERATIONS: Record<string, readonly [from: number, Contract][]> = {
  opus: [
    [5.5, { ...NEWEST, thinkingOff: "never", forcedTools: false, bound: true }],
    [5, { ...NEWEST, thinkingOff: "disabled", bound: false }],
    [4.8, { ...NEWEST, thinkingOff: "omit", bound: false }],
    [4.7, { ...NEWEST, thinkingOff: "omit", bound: false, systemTurns: false }],
    [4.6, FIRST_ADAPTIVE],
  ],
  sonnet: [
    [5.5, { ...NEWEST, thinkingOff: "between_tools", forcedTools: false, bound: true }],
    [5, { ...NEWEST, thinkingOff: "disabled", bound: false }],
    [4.6, FIRST_ADAPTIVE],
  ],
  haiku: [[5.5, { ...NEWEST, thinkingOff: "disabled", bound: true }]],
  fable: [
    [5.1, { ...NEWEST, thinkingOff: "never", forcedTools: false, bound: true }],
    [0, { ...NEWEST, thinkingOff: "never", bound: false }],
  ],
  mythos: [
    [5.1, { ...NEWEST, thinkingOff: "never", forcedTools: false, bound: true }],
    [0, { ...NEWEST, thinkingOff: "never", bound: false }],
  ],
};

/** Claude 4.5 and before. */
const BUDGETED: Contract = {
  thinking: "budget",
  thinkingOff: "omit",
  display: false,
  sampling: "both",
  forcedTools: true,
  bound: false,
  systemTurns: false,
};

/** Says the least that any generation refuses. */
const UNNAMED: Contract = { ...NEWEST, thinkingOff: "omit", bound: false, systemTurns: false };

/** `claude-opus-4-5-20251101`, `anthropic.claude-sonnet-5-v1:0`, `claude-haiku-4-5@20251001`; a date is no version. */
const NAMED = /claude-([a-z]+)-(\d{1,2})(?:[.-](\d{1,2})(?!\d))?(?!\d)/i;
/** `claude-3-7-sonnet-20250219`, `claude-3-haiku@20240307`. */
const OLD = /claude-(?:[123](?:[.-]\d)?-|instant)/i;

/** 4.5 of `claude-opus-4-5`; null where the name says none, or says it as they did before Claude 4. */
export function claudeVersion(upstreamModel: string): number | null {
  const [named, , major = "", minor = "0"] = NAMED.exec(upstreamModel) ?? [];
  return named === undefined ? null : Number(major) + Number(minor) / 10;
}

/** What the model takes that the upstream calls so. */
export function contractOf(upstreamModel: string): Contract {
  if (OLD.test(upstreamModel)) return BUDGETED;
  const [, family = ""] = NAMED.exec(upstreamModel) ?? [];
  const generations = GENERATIONS[family.toLowerCase()];
  if (generations === undefined) return UNNAMED;
  const version = claudeVersion(upstreamModel) ?? 0;
  const found = generations.find(([from]) => version >= from)?.[1];
  if (found !== undefined) return found;
  return version >= 4.5 ? { ...BUDGETED, sampling: "either" } : BUDGETED;
}
