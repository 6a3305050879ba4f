// How a family of models behind Converse is asked to think (wire.md §8.2): the API has no word of its own for it, so it goes in
// `additionalModelRequestFields`, in the words of whoever made the model. Always inside the output ceiling.
import { type Contract, contractOf } from "../anthropic/contracts.ts";
import { thoughtsFor } from "../anthropic/thinking.ts";

export const FAMILIES = ["claude", "nova", "effort", "none"] as const;
export type Family = (typeof FAMILIES)[number];

const NAMED: readonly [RegExp, Family][] = [
  [/anthropic\.claude/i, "claude"],
  [/amazon\.nova-2/i, "nova"],
  [/openai\.gpt-oss/i, "effort"],
];

/** By the model's name, which an inference profile of one's own does not have: then the provider's settings tell it. */
export const familyOf = (upstreamModel: string, told: Family | null): Family =>
  told ?? NAMED.find(([pattern]) => pattern.test(upstreamModel))?.[1] ?? "none";

/** Whose reasoning a signature proves: all of Claude read each other's, of others each model its own. */
export const signerOf = (upstreamModel: string, family: Family): string =>
  family === "claude" ? family : upstreamModel;

export interface Reasoning {
  /** The model thinks: what goes with thinking goes for this call. */
  on: boolean;
  /** Reasoning of earlier turns goes along. */
  recalls: boolean;
  /** For `additionalModelRequestFields`; null = none. */
  fields(ceiling: number): Record<string, unknown> | null;
  /** What a model of Claude takes beside; null = another family's. */
  contract: Contract | null;
}

interface Asked {
  upstreamModel: string;
  family: Family;
  /** Of the release; null where it publishes no modes. */
  mode: string | null;
  /** The running round of tools began without its reasoning, or a tool is demanded. */
  lost: boolean;
  forced: boolean;
}

/** `mode` null: the caller said nothing of it; `fields` are for `additionalModelRequestFields`, null for none. */
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
  // At `high` this family is said to take no maximum of tokens (unverified), and what has no ceiling could not be held for.
  const maxReasoningEffort = mode === "minimal" || mode === "low" ? "low" : "medium";
  return { reasoningConfig: { type: "enabled", maxReasoningEffort } };
}
