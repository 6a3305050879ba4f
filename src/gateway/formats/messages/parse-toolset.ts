// `tools` and `tool_choice` of a Messages body. Only tools with a schema are offered: the vendor's search, which agents always send,
// is left out and reported as ignored, unless it is all that is offered; its other tools are refused by name (surfaces.md §4).
import type { ToolChoice, ToolDefinition } from "../../../domain/chat-request.ts";
import {
  echo,
  invalid,
  isPresent,
  type JsonObject,
  type Place,
  readArray,
  readBoolean,
  readBoundedString,
  readChoice,
  readObject,
  readString,
  refuse,
} from "../../../domain/read-value.ts";
import type { Refusal } from "../../../domain/refusals.ts";
import { cacheMark } from "../chat-completions/parse-cache-mark.ts";
import { searchAlone } from "../search-alone.ts";

const TOOLS: Place = { parent: null, step: "tools" };
const TOOL_CHOICE: Place = { parent: null, step: "tool_choice" };
/** The vendor's limit; other shapes accept less. */
const NAME_LENGTH_MAX = 128;
const TOOLS_MAX = 1024;
const NAME = /^[A-Za-z0-9_-]+$/;
const ELSEWHERE = { tools: 128, nameLength: 64 };
/** Left out only beside other tools: answers without it are worse, but not wrong. */
const DROPPABLE = /^web_search_\d{8}$/;

export interface Toolset {
  tools: ToolDefinition[];
  /** As written, without those that are left out. */
  written: unknown[];
  /** Names of the tools that are left out. */
  dropped: string[];
  /** Why no other shape can express the tools. */
  only: Refusal | null;
}

/** Reads `tools`: functions with different names. */
export function readToolset(value: unknown): Toolset {
  const items = readArray(value, null, "tools");
  if (items.length > TOOLS_MAX)
    throw refuse("array_above_max_length", null, "tools", `may have at most ${TOOLS_MAX} tools. Send fewer.`);
  const set: Toolset = { tools: [], written: [], dropped: [], only: null };
  const names = new Set<string>();
  for (const [index, item] of items.entries()) {
    const at: Place = { parent: TOOLS, step: index };
    const tool = readObject(item, TOOLS, index);
    const type = isPresent(tool.type) ? readString(tool.type, at, "type") : "custom";
    if (DROPPABLE.test(type)) {
      set.dropped.push(type);
      continue;
    }
    if (type !== "custom")
      throw refuse(
        "unsupported_value",
        at,
        "type",
        `${echo(type)} is one of the vendor's own tools, which no published rate covers. Remove it, or send a tool with an \`input_schema\`.`,
      );
    const definition = customTool(tool, at);
    if (names.has(definition.function.name))
      throw invalid(at, "name", "repeats the name of another tool. Names must differ.");
    names.add(definition.function.name);
    if (definition.function.name.length > ELSEWHERE.nameLength)
      set.only ??= refuse(
        "string_above_max_length",
        at,
        "name",
        `may have at most ${ELSEWHERE.nameLength} characters with this model.`,
      );
    set.tools.push(definition);
    set.written.push(item);
  }
  const [search] = set.dropped;
  if (search !== undefined && set.tools.length === 0) throw searchAlone(search, { parent: TOOLS, step: 0 });
  if (set.tools.length > ELSEWHERE.tools)
    set.only ??= refuse(
      "array_above_max_length",
      null,
      "tools",
      `may have at most ${ELSEWHERE.tools} tools with this model. Send fewer.`,
    );
  return set;
}

function customTool(tool: JsonObject, at: Place): ToolDefinition {
  const name = readBoundedString(tool["name"], at, "name", NAME_LENGTH_MAX);
  if (!NAME.test(name)) throw invalid(at, "name", "must consist of letters, digits, `_` and `-`.");
  return {
    type: "function",
    function: {
      name,
      ...(isPresent(tool["description"]) && {
        description: readString(tool["description"], at, "description"),
      }),
      parameters: readObject(tool["input_schema"], at, "input_schema"),
      ...(isPresent(tool["strict"]) && { strict: readBoolean(tool["strict"], at, "strict") }),
    },
    ...cacheMark(tool),
  };
}

export interface ReadChoice {
  choice: ToolChoice | null;
  /** `disable_parallel_tool_use`. */
  single: boolean;
}

const WORDS = { auto: "auto", any: "required", none: "none" } as const;

/** Reads `tool_choice` against the remaining tools. */
export function readToolChoice(value: unknown, tools: readonly ToolDefinition[]): ReadChoice {
  const given = readObject(value, null, "tool_choice");
  const type = readChoice(given.type, ["auto", "any", "tool", "none"], TOOL_CHOICE, "type");
  const { disable_parallel_tool_use: alone } = given;
  const single = isPresent(alone) && readBoolean(alone, TOOL_CHOICE, "disable_parallel_tool_use");
  if (type === "tool") {
    const name = readString(given["name"], TOOL_CHOICE, "name");
    if (!tools.some((tool) => tool.function.name === name))
      throw invalid(TOOL_CHOICE, "name", `${echo(name)} is not one of the request's \`tools\`.`);
    return { choice: { type: "function", function: { name } }, single };
  }
  if (tools.length > 0) return { choice: WORDS[type], single };
  if (type === "any")
    throw invalid(
      null,
      "tool_choice",
      "asks for a tool, but `tools` has none that is supported. Send one, or leave this field out.",
    );
  return { choice: null, single: false };
}
