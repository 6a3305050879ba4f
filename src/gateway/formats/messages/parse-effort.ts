// How much thinking a Messages caller wants: `thinking` and `output_config.effort` are one statement about one mode, as all
// spellings are (wire.md §1.4). Contradictions are refused.
import type { ReasoningStatement, ResponseFormat } from "../../../domain/chat-request.ts";
import {
  isPresent,
  type Place,
  readChoice,
  readInteger,
  readObject,
  readString,
  refuse,
} from "../../../domain/read-value.ts";
import { Refusal } from "../../../domain/refusals.ts";
import { unreadMembers } from "../unread-members.ts";

const THINKING: Place = { parent: null, step: "thinking" };
const OUTPUT: Place = { parent: null, step: "output_config" };
const BUDGET_MIN = 1024;

/** `disabled` also covers `between_tools`: no thinking before the answer, or before the first call. */
export type SaidOfThinking = "enabled" | "adaptive" | "disabled" | null;

/**
 * Reads `thinking`. A budget is left to the vendor where it is supported; elsewhere the release's mode decides. `dropped`: paths of
 * members that only the vendor may support.
 */
export function readThinking(value: unknown): { said: SaidOfThinking; dropped: string[] } {
  const given = readObject(value, null, "thinking");
  // How thoughts from another conversation are treated, whatever the model does by default: the gateway asks the vendor
  // to drop them.
  if (!isPresent(given.type) && isPresent(given["block_binding"]))
    return { said: null, dropped: unreadMembers("thinking", given, ["type"]) };
  const type = readChoice(given.type, ["enabled", "adaptive", "disabled", "between_tools"], THINKING, "type");
  const said = type === "between_tools" ? "disabled" : type;
  const dropped = unreadMembers("thinking", given, ["type", "budget_tokens"]);
  if (said !== "enabled") return { said, dropped };
  const budget = readInteger(given["budget_tokens"], THINKING, "budget_tokens");
  if (budget >= BUDGET_MIN) return { said, dropped: ["thinking.budget_tokens", ...dropped] };
  throw refuse("integer_below_min_value", THINKING, "budget_tokens", `must be at least ${BUDGET_MIN}.`);
}

interface SaidOfOutput {
  effort: string | null;
  format: ResponseFormat | null;
  dropped: string[];
}

/** Reads `output_config`: an effort, and the form of the answer; `dropped` as above. */
export function readOutput(value: unknown): SaidOfOutput {
  const given = readObject(value, null, "output_config");
  return {
    dropped: unreadMembers("output_config", given, ["effort", "format"]),
    effort: isPresent(given["effort"]) ? readString(given["effort"], OUTPUT, "effort") : null,
    format: isPresent(given["format"]) ? readSchema(given["format"], OUTPUT, "format") : null,
  };
}

/** Reads the form of the answer at `step` of the place. */
export function readSchema(value: unknown, parent: Place, step: string): ResponseFormat {
  const given = readObject(value, parent, step);
  const at: Place = { parent, step };
  readChoice(given.type, ["json_schema"], at, "type");
  const schema = readObject(given["schema"], at, "schema");
  return { type: "json_schema", json_schema: { name: "answer", schema } };
}

/**
 * Both as one statement: an effort says more than a switch, and with thinking switched off it applies only to the answer. Agents
 * send theirs to every model, so only `enabled` is binding.
 */
export function thinkingSaid(thinking: SaidOfThinking, effort: string | null): ReasoningStatement | null {
  if (thinking === "disabled") return { kind: "off", param: "thinking", hint: true };
  if (effort === "none" && thinking !== null) throw contradictory();
  if (effort !== null)
    return { kind: "effort", effort, param: "output_config.effort", ...(thinking !== "enabled" && HINT) };
  if (thinking === null) return null;
  return { kind: "on", param: "thinking", ...(thinking === "adaptive" && HINT) };
}

const HINT = { hint: true } as const;

const contradictory = (): Refusal =>
  new Refusal(
    "contradictory_thinking",
    "`output_config.effort` contradicts `thinking`. Set the amount of thinking once.",
    { param: "output_config.effort" },
  );
