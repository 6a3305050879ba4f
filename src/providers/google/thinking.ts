// How much a call may think, in the vendor's terms (wire.md §8.1): a level, or a budget within the output ceiling,
// since thoughts are counted and paid there.
import { geminiModel, type Thinking } from "./models.ts";

/** The tokens of thought that Google's own compatible layer allots to each effort. */
const BUDGETS: Record<string, number> = { minimal: 1024, low: 1024, medium: 8192, high: 24_576 };
/** The maximum share of the ceiling: the answer needs the rest. */
const LARGEST_SHARE = 0.75;
/** The model decides; the ceiling bounds it. */
const DYNAMIC = -1;

export interface ThinkingConfig {
  includeThoughts: boolean;
  thinkingBudget?: number;
  thinkingLevel?: string;
}

/**
 * Returns the configuration for one ceiling; null if the release publishes no modes. A mode that is a number is the
 * budget.
 */
export function thinkingConfig(mode: string | null, model: string, ceiling: number): ThinkingConfig | null {
  if (mode === null) return null;
  const { thinking } = geminiModel(model);
  const includeThoughts = mode !== "none";
  if (thinking.kind === "level") return { includeThoughts, thinkingLevel: levelOf(mode, thinking) };
  return { includeThoughts, thinkingBudget: budgetOf(mode, thinking, ceiling) };
}

/** Returns the longest configuration that `thinkingConfig` prints for this mode and model, whatever the ceiling. */
export const longestThinking = (mode: string | null, model: string): ThinkingConfig | null =>
  thinkingConfig(mode, model, Number.MAX_SAFE_INTEGER);

function levelOf(mode: string, { least, medium }: Extract<Thinking, { kind: "level" }>): string {
  if (mode === "none" || mode === "minimal") return least;
  if (mode === "low") return "LOW";
  return mode === "medium" && medium ? "MEDIUM" : "HIGH";
}

function budgetOf(
  mode: string,
  { least, most, off }: Extract<Thinking, { kind: "budget" }>,
  ceiling: number,
): number {
  const little = off ? 0 : DYNAMIC;
  const room = Math.min(Math.floor(ceiling * LARGEST_SHARE), most);
  if (room < least) return little;
  if (mode === "none") return off ? 0 : least;
  const wanted = /^\d{1,9}$/.test(mode) ? Number(mode) : (BUDGETS[mode] ?? most);
  if (wanted === 0 && off) return 0;
  return Math.min(Math.max(wanted, least), room);
}
