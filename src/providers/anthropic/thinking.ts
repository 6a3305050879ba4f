// How much a call may think, in the vendor's terms. A published mode becomes an effort if the model decides how much,
// or a budget within the output ceiling if it does not: thinking is never paid for on top of what is held
// (wire.md §8.1).
import type { Contract } from "./contracts.ts";

/** The vendor's minimum. */
const BUDGET_MIN = 1024;
/** The vendor advises against larger budgets for a call that somebody waits for. */
const BUDGET_OF_WORDS_MAX = 32_000;
/** Shares of the ceiling: the answer needs the rest. */
const SHARES: Record<string, number> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.9,
  max: 0.95,
};
const USUAL_SHARE = 0.5;
const LARGEST_SHARE = 0.95;

export interface Thoughts {
  /** The model thinks, or may: the rules of thinking apply to this call. */
  on: boolean;
  /** Depends on the ceiling only if thinking has a budget. */
  field(ceiling: number): Record<string, unknown> | null;
  /** For `output_config`; null = none. */
  effort: string | null;
  /** True if thoughts of earlier turns are sent along. */
  recalls: boolean;
}

/** True if thinking is requested at all: a ceiling may leave no room for a budget. */
export const isOn = (thoughts: Thoughts, ceiling: number): boolean =>
  thoughts.on && (thoughts.effort !== null || thoughts.field(ceiling) !== null);

const NONE: Thoughts = { on: false, field: () => null, effort: null, recalls: false };

/**
 * `mode` is the release's, null if it publishes none. `possible` is false if the conversation or a required tool
 * forbids thinking. `drops`: thoughts that belong to another conversation are to be dropped rather than rejected.
 */
export function thoughtsFor(
  mode: string | null,
  contract: Contract,
  { possible, drops }: { possible: boolean; drops: boolean },
): Thoughts {
  if (mode === null)
    return { ...NONE, recalls: true, field: () => (drops ? { type: "adaptive", ...DROP_UNBOUND } : null) };
  if (mode === "none" || !possible) return quiet(contract, drops);
  if (contract.thinking === "adaptive") {
    const field = {
      type: "adaptive",
      ...(contract.display && { display: "summarized" }),
      ...(drops && DROP_UNBOUND),
    };
    return { on: true, field: () => field, effort: mode === "minimal" ? "low" : mode, recalls: true };
  }
  return { on: true, field: (ceiling) => budgeted(mode, ceiling), effort: null, recalls: true };
}

export const DROP_UNBOUND = { block_binding: { prefix_mismatch_behavior: "drop_block" } };

function quiet({ thinkingOff }: Contract, drops: boolean): Thoughts {
  switch (thinkingOff) {
    case "omit":
      return NONE;
    case "never":
      return {
        on: true,
        field: () => ({ type: "adaptive", ...(drops && DROP_UNBOUND) }),
        effort: "low",
        recalls: true,
      };
    case "disabled":
      return { ...NONE, field: () => ({ type: "disabled" }) };
    case "between_tools":
      return { ...NONE, field: () => ({ type: "between_tools" }), recalls: true };
  }
}

/** A mode that is a number is the budget. */
function budgeted(mode: string, ceiling: number): Record<string, unknown> | null {
  const wanted = /^\d{1,9}$/.test(mode)
    ? Number(mode)
    : Math.min(Math.floor(ceiling * (SHARES[mode] ?? USUAL_SHARE)), BUDGET_OF_WORDS_MAX);
  return budgetWithin(wanted, ceiling);
}

/** Returns as much of a budget as the ceiling allows; null if that is too little to think. */
export function budgetWithin(wanted: number, ceiling: number): Record<string, unknown> | null {
  const most = Math.floor(ceiling * LARGEST_SHARE);
  const budget = Math.min(Math.max(wanted, BUDGET_MIN), most);
  return budget < BUDGET_MIN ? null : { type: "enabled", budget_tokens: budget };
}
