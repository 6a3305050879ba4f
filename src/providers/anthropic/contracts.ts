// What each generation of Claude accepts in a request, and what it rejects with 400 (providers.md §7): the vendor
// changes this with its models, not with its API's version. Indexed by the family and version in the upstream model's
// name; for a deployment with another name, the provider's settings say it.

export const THINKING_STYLES = ["adaptive", "budget"] as const;
export const THINKING_OFF = ["omit", "disabled", "between_tools", "never"] as const;

export interface Contract {
  /** How thinking is requested: by an effort, where the model decides how much; or by a budget of tokens. */
  thinking: (typeof THINKING_STYLES)[number];
  /** How it is switched off: by omitting it, by a word, or never. */
  thinkingOff: (typeof THINKING_OFF)[number];
  /** True if the text of its thoughts must be requested. */
  display: boolean;
  /** `temperature` and `top_p`: both together, either alone, or neither. */
  sampling: "both" | "either" | "none";
  /** True if a tool call can be required. */
  forcedTools: boolean;
  /**
   * True if its thoughts belong to the conversation before them: after another one they are rejected, unless asked to
   * be dropped.
   */
  bound: boolean;
  /** True if a system message may stand within the conversation, as a turn of its own. */
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

/** By family, newest first: from this version on. From the vendor's migration guides up to October 2026. */
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

/** The contract for other names: sends the least that any generation could reject. */
const UNNAMED: Contract = { ...NEWEST, thinkingOff: "omit", bound: false, systemTurns: false };

/** `claude-opus-4-5-20251101`, `anthropic.claude-sonnet-5-v1:0`, `claude-haiku-4-5@20251001`; a date is not a version. */
const NAMED = /claude-([a-z]+)-(\d{1,2})(?:[.-](\d{1,2})(?!\d))?(?!\d)/i;
/** `claude-3-7-sonnet-20250219`, `claude-3-haiku@20240307`. */
const OLD = /claude-(?:[123](?:[.-]\d)?-|instant)/i;

/**
 * Returns the version, such as 4.5 for `claude-opus-4-5`; null if the name has none, or has it in the form used
 * before Claude 4.
 */
export function claudeVersion(upstreamModel: string): number | null {
  const [named, , major = "", minor = "0"] = NAMED.exec(upstreamModel) ?? [];
  return named === undefined ? null : Number(major) + Number(minor) / 10;
}

/** Returns the contract of a model by its upstream name. */
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
