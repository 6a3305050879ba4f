// The many spellings of one setting: how much the model may think (wire.md §1.4). Every field becomes a statement, in the order of
// the body. A statement that contradicts an earlier one is refused; the rest reduce to a single one.
import type { ReasoningStatement } from "../../../domain/chat-request.ts";
import {
  isJsonObject,
  isPresent,
  paramPath,
  type Place,
  readBoolean,
  readChoice,
  readObject,
  readString,
  refuse,
} from "../../../domain/read-value.ts";
import { Refusal } from "../../../domain/refusals.ts";
import { unreadMembers } from "../unread-members.ts";

/** One statement about thinking, at the path `param` of the body. */
export type ThinkingStatement = ReasoningStatement | { kind: "budget"; param: string };

/** Reads one present field into a statement; null if it says nothing. */
type StatementReader = (value: unknown, at: Place, step: string) => ThinkingStatement | null;

const POLARITY = { enabled: "on", adaptive: "on", disabled: "off" } as const;
const TYPES = ["enabled", "adaptive", "disabled"] as const;

const readEffort: StatementReader = (value, at, step) => ({
  kind: "effort",
  effort: readString(value, at, step),
  param: paramPath(at, step),
});
const readType: StatementReader = (value, at, step) => ({
  kind: POLARITY[readChoice(value, TYPES, at, step)],
  param: paramPath(at, step),
});
const readSwitch: StatementReader = (value, at, step) => ({
  kind: readBoolean(value, at, step) ? "on" : "off",
  param: paramPath(at, step),
});
const readBudget: StatementReader = (_value, at, step) => ({ kind: "budget", param: paramPath(at, step) });

const refuseField: StatementReader = (_value, at, step) => {
  throw refuse("unsupported_parameter", at, step, "is not supported. Remove it.");
};
/** `false` is the default: reasoning is returned if there is any. */
const readExclude: StatementReader = (value, at, step) =>
  value === false ? null : refuseField(value, at, step);

/** It says whose thoughts the model is shown, not how much it thinks (`keepsAllThoughts`). */
const readKeep: StatementReader = (value, at, step) => {
  readChoice(value, ["all"], at, step);
  return null;
};

/** The top-level fields about thinking, and the members of those that are objects. */
const FIELDS: Record<string, StatementReader | Record<string, StatementReader>> = {
  reasoning_effort: readEffort,
  thinking: { type: readType, budget_tokens: readBudget, keep: readKeep },
  reasoning: {
    effort: readEffort,
    enabled: readSwitch,
    max_tokens: readBudget,
    exclude: readExclude,
    summary: refuseField,
  },
  enable_thinking: readSwitch,
  thinking_budget: readBudget,
  thinking_token_budget: readBudget,
  include_reasoning: refuseField,
};

export const THINKING_FIELDS: readonly string[] = Object.keys(FIELDS);

/**
 * Adds the statements of the present top-level field `name`; members are read in the body's order. Returns the paths of members
 * without a meaning here.
 */
export function readThinkingField(name: string, value: unknown, statements: ThinkingStatement[]): string[] {
  const field = FIELDS[name] ?? {};
  if (typeof field === "function") {
    add(field(value, null, name), statements);
    return [];
  }
  const at: Place = { parent: null, step: name };
  const option = readObject(value, null, name);
  for (const [step, member] of Object.entries(option)) {
    const reader = Object.hasOwn(field, step) ? field[step] : undefined;
    if (reader !== undefined && isPresent(member)) add(reader(member, at, step), statements);
  }
  return unreadMembers(name, option, Object.keys(field));
}

/** True for `thinking` with `keep: "all"`: the model is to be shown the thoughts of all turns. */
export const keepsAllThoughts = (name: string, value: unknown): boolean =>
  name === "thinking" && isJsonObject(value) && value["keep"] === "all";

function add(statement: ThinkingStatement | null, statements: ThinkingStatement[]): void {
  if (statement !== null) statements.push(statement);
}

function requireAgreement(statements: readonly ThinkingStatement[]): void {
  statements.forEach((later, index) => {
    const earlier = statements.slice(0, index).find((statement) => contradict(statement, later));
    if (earlier !== undefined) throw contradictory(earlier.param, later.param);
  });
}

/** Reduces all statements to the strongest one (an effort says more than "on" or "off"), or refuses contradictory ones. */
export function reduceThinking(statements: readonly ThinkingStatement[]): ReasoningStatement | null {
  if (statements.length > 1) requireAgreement(statements);
  let reduced: ReasoningStatement | null = null;
  for (const statement of statements) {
    if (statement.kind === "budget") throw budgetNotOpen(statement.param);
    if (reduced === null || (statement.kind === "effort" && reduced.kind !== "effort")) reduced = statement;
  }
  return reduced;
}

function contradict(a: ThinkingStatement, b: ThinkingStatement): boolean {
  if (a.kind === "budget" || b.kind === "budget") return a.kind !== b.kind;
  if (a.kind === "effort" && b.kind === "effort") return a.effort !== b.effort;
  return directionOf(a) !== directionOf(b);
}

const directionOf = (statement: ReasoningStatement): "on" | "off" =>
  statement.kind === "effort" ? (statement.effort === "none" ? "off" : "on") : statement.kind;

function contradictory(earlier: string, later: string): Refusal {
  const text = `\`${later}\` contradicts \`${earlier}\`. Set the amount of thinking once, preferably with \`reasoning_effort\`.`;
  return new Refusal("contradictory_thinking", text, { param: later });
}

function budgetNotOpen(param: string): Refusal {
  const text = `\`${param}\` is not supported: thinking has no token budget of its own. Use \`reasoning_effort\`.`;
  return new Refusal("unsupported_parameter", text, { param });
}
