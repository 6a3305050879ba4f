// What differs between generations of Gemini, by the model's name: how it is told to think, and whether it insists on its
// thought signatures. A name that says nothing is taken for the newest.

export type Thinking =
  | {
      kind: "budget";
      /** Tokens; the vendor refuses what lies outside. */
      least: number;
      most: number;
      /** Whether a budget of 0 is taken. */
      off: boolean;
    }
  | {
      kind: "level";
      /** The least that there is: thinking cannot be switched off. */
      least: "MINIMAL" | "LOW";
      medium: boolean;
    };

export interface GeminiModel {
  thinking: Thinking;
  /** The first call of each step must have a signature, or word that there is none. */
  signed: boolean;
}

const BUDGETED: readonly [RegExp, Thinking][] = [
  [/gemini-2\.5-pro/, { kind: "budget", least: 128, most: 32_768, off: false }],
  [/gemini-2\.5-flash-lite/, { kind: "budget", least: 512, most: 24_576, off: true }],
  [/gemini-([01]|2)(\.|-|$)/, { kind: "budget", least: 1, most: 24_576, off: true }],
];

/** By the name that goes upstream, without any account of it. */
export function geminiModel(name: string): GeminiModel {
  const budgeted = BUDGETED.find(([pattern]) => pattern.test(name));
  if (budgeted !== undefined) return { thinking: budgeted[1], signed: false };
  const pro = /\bpro\b/.test(name);
  const medium = !/gemini-3-pro/.test(name);
  return { thinking: { kind: "level", least: pro ? "LOW" : "MINIMAL", medium }, signed: true };
}
