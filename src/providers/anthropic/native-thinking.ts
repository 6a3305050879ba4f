// How much a caller's own Messages body lets this model think: in the caller's terms if the model knows them,
// otherwise in the nearest ones that it knows (wire.md §8.1).
import { isJsonObject, isPresent } from "../../domain/read-value.ts";
import type { JsonObject } from "../../domain/read-value.ts";
import type { Contract } from "./contracts.ts";
import { budgetWithin, DROP_UNBOUND, type Thoughts, thoughtsFor } from "./thinking.ts";

/** The values that tell the model not to think before it answers; each model knows at most one of them. */
const OFF: ReadonlySet<unknown> = new Set(["disabled", "between_tools"]);

export interface NativeThoughts extends Thoughts {
  /** True if the caller's effort is not sent. */
  effortDropped: boolean;
}

/** `mode` is the release's. `possible` is false if the conversation or a required tool forbids a budget. */
export function nativeThoughts(
  { thinking, output_config: output }: JsonObject,
  {
    mode,
    contract,
    possible,
    drops,
  }: { mode: string | null; contract: Contract; possible: boolean; drops: boolean },
): NativeThoughts {
  const said = isJsonObject(thinking) && isPresent(thinking["type"]) ? thinking : null;
  const effort = isJsonObject(output) && typeof output["effort"] === "string" ? output["effort"] : null;
  const told = (thoughts: Thoughts): NativeThoughts => ({
    ...thoughts,
    effortDropped: effort !== null && thoughts.effort === null,
  });
  if (mode === null || OFF.has(said?.["type"]))
    return told(thoughtsFor(mode === null ? null : "none", contract, { possible, drops }));
  if (contract.thinking === "adaptive") {
    const of = thoughtsFor(mode, contract, { possible, drops });
    if (said?.["type"] === "enabled") return told(of);
    const field = { ...(said ?? { type: "adaptive" }), ...(drops && DROP_UNBOUND) };
    const silent = said === null && !drops;
    return told({
      on: said !== null || contract.thinkingOff !== "omit",
      field: () => (silent ? null : field),
      effort,
      recalls: true,
    });
  }
  if (said === null) return told({ on: false, field: () => null, effort: null, recalls: true });
  if (!possible) return told(thoughtsFor("none", contract, { possible, drops }));
  if (said["type"] !== "enabled") return told(thoughtsFor(mode, contract, { possible, drops }));
  const budget = Number(said["budget_tokens"]);
  return told({
    on: true,
    field: (ceiling) => {
      const within = budgetWithin(budget, ceiling);
      return within === null ? null : { ...said, ...within };
    },
    effort: null,
    recalls: true,
  });
}
