// Tool definitions and the choice among them (specification 2.1, wire.md §1.1). Schemas are passed on as sent; names are checked
// here because every later step, and the model, relies on them.
import { cacheMark } from "./parse-cache-mark.ts";
import type { ToolChoice, ToolDefinition } from "../../../domain/chat-request.ts";
import {
  echo,
  found,
  invalid,
  isJsonObject,
  isPresent,
  type JsonObject,
  list,
  type Place,
  readArray,
  readBoolean,
  readBoundedString,
  readChoice,
  readObject,
  readString,
  refuse,
} from "../../../domain/read-value.ts";

const MAX_TOOLS = 128;
const MAX_NAME_LENGTH = 64;
const NAME = /^[A-Za-z0-9_-]+$/;
const TOOLS: Place = { parent: null, step: "tools" };
const TOOL_CHOICE: Place = { parent: null, step: "tool_choice" };
const WORDS = ["none", "auto", "required"] as const;

/** Reads `tools`: at most 128 functions with different names. `[]` is the same as leaving the field out. */
export function parseTools(value: unknown): ToolDefinition[] {
  const items = readBounded(value, null);
  const names = new Set<string>();
  return items.map((item, index) => {
    const at: Place = { parent: TOOLS, step: index };
    const tool = parseTool(item, at);
    if (names.has(tool.function.name))
      throw invalid(
        { parent: at, step: "function" },
        "name",
        "repeats the name of another tool. Names must differ.",
      );
    names.add(tool.function.name);
    return tool;
  });
}

function readBounded(value: unknown, at: Place): unknown[] {
  const items = readArray(value, at, "tools");
  requireToolCount(items.length, at);
  return items;
}

/** Refuses more tools than a request may offer. */
export function requireToolCount(count: number, at: Place): void {
  if (count > MAX_TOOLS)
    throw refuse("array_above_max_length", at, "tools", `may have at most ${MAX_TOOLS} tools. Send fewer.`);
}

function parseTool(value: unknown, at: NonNullable<Place>): ToolDefinition {
  const tool = readObject(value, at.parent, at.step);
  readChoice(tool.type, ["function"], at, "type");
  const inside: Place = { parent: at, step: "function" };
  const given = readObject(tool.function, at, "function");
  const definition: ToolDefinition["function"] = {
    name: readName(given.name, inside),
    ...readNotes(given, inside),
  };
  if (isPresent(given.parameters)) definition.parameters = readObject(given.parameters, inside, "parameters");
  return { type: "function", function: definition, ...cacheMark(tool) };
}

/** Reads the optional members that function definitions and response schemas share. */
export function readNotes(given: JsonObject, at: Place): { description?: string; strict?: boolean } {
  const notes: { description?: string; strict?: boolean } = {};
  if (isPresent(given.description)) notes.description = readString(given.description, at, "description");
  if (isPresent(given.strict)) notes.strict = readBoolean(given.strict, at, "strict");
  return notes;
}

/**
 * Reads a function's or schema's `name` at the place: 1 to 64 letters, digits, `_` and `-`; more if a surface allows longer names.
 */
export function readName(value: unknown, at: Place, lengthMax = MAX_NAME_LENGTH): string {
  const name = readBoundedString(value, at, "name", lengthMax);
  if (NAME.test(name)) return name;
  throw invalid(at, "name", "must consist of letters, digits, `_` and `-`.");
}

/** Reads `tool_choice` against the tools it chooses from; null if there is nothing to choose. */
export const parseToolChoice = (value: unknown, tools: readonly ToolDefinition[]): ToolChoice | null =>
  readChoiceOfTools(value, tools, (choice) => parseChoiceObject(choice, tools));

/** The same for a surface with its own way of naming tools: `readObject` reads a choice that is not a string. */
export function readChoiceOfTools(
  value: unknown,
  tools: readonly ToolDefinition[],
  readObject: (choice: JsonObject) => ToolChoice,
): ToolChoice | null {
  if (typeof value !== "string" && !isJsonObject(value))
    throw invalid(null, "tool_choice", `must be a string or an object, ${found(value)}.`);
  const choice = typeof value === "string" ? readWord(value) : readObject(value);
  if (tools.length > 0) return choice;
  if (choice === "none" || choice === "auto") return null;
  throw invalid(
    null,
    "tool_choice",
    "asks for a tool, but `tools` has none that is supported. Send one, or leave this field out.",
  );
}

function readWord(value: string): ToolChoice {
  const word = WORDS.find((candidate) => candidate === value);
  if (word !== undefined) return word;
  const text = `${echo(value)} is not supported. Send one of ${list(WORDS)}, or an object that names a tool.`;
  throw refuse("unsupported_value", null, "tool_choice", text);
}

function parseChoiceObject(value: JsonObject, tools: readonly ToolDefinition[]): ToolChoice {
  if (readChoice(value.type, ["function", "allowed_tools"], TOOL_CHOICE, "type") === "function")
    return parseNamedFunction(value, TOOL_CHOICE, tools);
  const at: Place = { parent: TOOL_CHOICE, step: "allowed_tools" };
  const allowed = readObject(value.allowed_tools, TOOL_CHOICE, "allowed_tools");
  const mode = readChoice(allowed.mode, ["auto", "required"], at, "mode");
  const place: Place = { parent: at, step: "tools" };
  const named = readBounded(allowed.tools, at).map((item, index) => {
    const tool = readObject(item, place, index);
    const itemAt: Place = { parent: place, step: index };
    readChoice(tool.type, ["function"], itemAt, "type");
    return parseNamedFunction(tool, itemAt, tools);
  });
  if (named.length === 0) throw invalid(at, "tools", "must name at least one of the request's tools.");
  return { type: "allowed_tools", allowed_tools: { mode, tools: named } };
}

interface NamedFunction {
  type: "function";
  function: { name: string };
}

function parseNamedFunction(value: JsonObject, at: Place, tools: readonly ToolDefinition[]): NamedFunction {
  const inside: Place = { parent: at, step: "function" };
  const name = readString(readObject(value.function, at, "function").name, inside, "name");
  if (tools.some((tool) => tool.function.name === name)) return { type: "function", function: { name } };
  throw invalid(inside, "name", `${echo(name)} is not one of the request's \`tools\`.`);
}
