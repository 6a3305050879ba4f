// The differences between generations of Gemini, by the model's name: how thinking is configured, and whether thought
// signatures are required. An unknown name is treated as the newest generation.

export type Thinking =
  | {
      kind: "budget";
      /** Tokens; the vendor rejects a budget outside. */
      least: number;
      most: number;
      /** True if a budget of 0 is accepted. */
      off: boolean;
    }
  | {
      kind: "level";
      /** The lowest level there is: thinking cannot be switched off. */
      least: "MINIMAL" | "LOW";
      medium: boolean;
    };

export interface GeminiModel {
  thinking: Thinking;
  /** True if the first call of each step must have a signature, or a note that there is none. */
  signed: boolean;
}

const BUDGETED: readonly [RegExp, Thinking][] = [
  [/gemini-2\.5-pro/, { kind: "budget", least: 128, most: 32_768, off: false }],
  [/gemini-2\.5-flash-lite/, { kind: "budget", least: 512, most: 24_576, off: true }],
  [/gemini-([01]|2)(\.|-|$)/, { kind: "budget", least: 1, most: 24_576, off: true }],
];

/** Looks the model up by the name that is sent upstream, without any account prefix. */
export function geminiModel(name: string): GeminiModel {
  const budgeted = BUDGETED.find(([pattern]) => pattern.test(name));
  if (budgeted !== undefined) return { thinking: budgeted[1], signed: false };
  const pro = /\bpro\b/.test(name);
  const medium = !/gemini-3-pro/.test(name);
  return { thinking: { kind: "level", least: pro ? "LOW" : "MINIMAL", medium }, signed: true };
}
