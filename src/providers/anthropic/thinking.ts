// How much a call may think, in the vendor's words. A published mode becomes an effort where the model decides how much, or a
// budget inside the output ceiling where it does not: thinking is never paid for on top of what is held (wire.md §8.1).
import type { Contract } from "./contracts.ts";

/** The vendor's least. */
const BUDGET_MIN = 1024;
/** Above it the vendor advises against a call that somebody waits for. */
const BUDGET_OF_WORDS_MAX = 32_000;
/** Of the ceiling: the answer needs the rest. */
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
  /** The model thinks, or may: what goes with thinking goes for this call. */
  on: boolean;
  /** Depends on the ceiling only where thinking has a budget. */
  field(ceiling: number): Record<string, unknown> | null;
  /** For `output_config`; null = none. */
  effort: string | null;
  /** Thoughts of earlier turns go along. */
  recalls: boolean;
}

/** Whether they are asked for at all: a ceiling may leave no room for a budget. */
export const isOn = (thoughts: Thoughts, ceiling: number): boolean =>
  thoughts.on && (thoughts.effort !== null || thoughts.field(ceiling) !== null);

const NONE: Thoughts = { on: false, field: () => null, effort: null, recalls: false };

/**
 * `mode`: of the release, null where it publishes none. `possible`: false where the conversation or a demanded tool
 * forbids it. `drops`: thoughts that belong to another conversation shall be dropped instead of refused.
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

/** A mode that is a number is its budget. */
function budgeted(mode: string, ceiling: number): Record<string, unknown> | null {
  const wanted = /^\d{1,9}$/.test(mode)
    ? Number(mode)
    : Math.min(Math.floor(ceiling * (SHARES[mode] ?? USUAL_SHARE)), BUDGET_OF_WORDS_MAX);
  return budgetWithin(wanted, ceiling);
}

/** So much of a budget as the ceiling leaves; too small a one leaves no room to think. */
export function budgetWithin(wanted: number, ceiling: number): Record<string, unknown> | null {
  const most = Math.floor(ceiling * LARGEST_SHARE);
  const budget = Math.min(Math.max(wanted, BUDGET_MIN), most);
  return budget < BUDGET_MIN ? null : { type: "enabled", budget_tokens: budget };
}
