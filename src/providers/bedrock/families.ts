// How thinking is requested from each family of models behind Converse (wire.md §8.2). The API has no field of its
// own for it, so it goes into `additionalModelRequestFields`, in the terms of the model's maker. Always within the
// output ceiling.
import { type Contract, contractOf } from "../anthropic/contracts.ts";
import { thoughtsFor } from "../anthropic/thinking.ts";

export const FAMILIES = ["claude", "nova", "effort", "none"] as const;
export type Family = (typeof FAMILIES)[number];

const NAMED: readonly [RegExp, Family][] = [
  [/anthropic\.claude/i, "claude"],
  [/amazon\.nova-2/i, "nova"],
  [/openai\.gpt-oss/i, "effort"],
];

/**
 * Returns the family by the model's name. A custom inference profile has no such name; the provider's settings tell
 * its family.
 */
export const familyOf = (upstreamModel: string, told: Family | null): Family =>
  told ?? NAMED.find(([pattern]) => pattern.test(upstreamModel))?.[1] ?? "none";

/** The signer of reasoning: all Claude models accept each other's, any other model only its own. */
export const signerOf = (upstreamModel: string, family: Family): string =>
  family === "claude" ? family : upstreamModel;

export interface Reasoning {
  /** True if the model thinks in this call, so that the rules of thinking apply to it. */
  on: boolean;
  /** True if reasoning of earlier turns is sent along. */
  recalls: boolean;
  /** For `additionalModelRequestFields`; null = none. */
  fields(ceiling: number): Record<string, unknown> | null;
  /** The contract of a Claude model; null = another family. */
  contract: Contract | null;
}

interface Asked {
  upstreamModel: string;
  family: Family;
  /** The release's mode; null if it publishes none. */
  mode: string | null;
  /** True if the current tool round began without its reasoning. `forced`: a tool is required. */
  lost: boolean;
  forced: boolean;
}

/** Returns how this call reasons. `mode` is null if the caller did not say. */
export function reasoningFor({ upstreamModel, family, mode, lost, forced }: Asked): Reasoning {
  if (family === "claude") return ofClaude(contractOf(upstreamModel), { mode, lost, forced });
  const on = mode !== null && mode !== "none" && family !== "none";
  const said = on ? wordsOf(family, mode) : null;
  return { on, recalls: true, fields: () => said, contract: null };
}

function ofClaude(
  contract: Contract,
  { mode, lost, forced }: Pick<Asked, "mode" | "lost" | "forced">,
): Reasoning {
  const possible = contract.thinking === "adaptive" || (!lost && !forced);
  const thoughts = thoughtsFor(mode, contract, { possible, drops: false });
  const effort = thoughts.effort === null ? {} : { output_config: { effort: thoughts.effort } };
  return {
    on: thoughts.on,
    recalls: thoughts.recalls,
    contract,
    fields(ceiling) {
      const thinking = thoughts.field(ceiling);
      const fields = { ...(thinking !== null && { thinking }), ...effort };
      return Object.keys(fields).length === 0 ? null : fields;
    },
  };
}

function wordsOf(family: Family, mode: string): Record<string, unknown> {
  if (family === "effort") return { reasoning_effort: mode === "minimal" ? "low" : mode };
  // At `high` this family is said to accept no maximum of tokens (unverified), and nothing could be held for a call
  // without a ceiling.
  const maxReasoningEffort = mode === "minimal" || mode === "low" ? "low" : "medium";
  return { reasoningConfig: { type: "enabled", maxReasoningEffort } };
}
