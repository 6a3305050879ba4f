// The tools of a Responses request (surfaces.md §4): functions, groups of them and free-text tools. Models of any shape are given
// functions with flat names; calls are returned under the name, group and kind that the caller gave.
import type { ToolDefinition } from "../../../domain/chat-request.ts";
import {
  echo,
  invalid,
  isJsonObject,
  isPresent,
  type JsonObject,
  list,
  type Place,
  readArray,
  readObject,
  readString,
  refuse,
} from "../../../domain/read-value.ts";
import { readName, readNotes, requireToolCount } from "../chat-completions/parse-tools.ts";
import { searchAlone } from "../search-alone.ts";

export interface OfferedTool {
  kind: "function" | "custom";
  name: string;
  /** The group of the tool; null: none. */
  namespace: string | null;
}

/** What a request offers, and how its tools are called on either side. */
export interface OfferedTools {
  definitions: ToolDefinition[];
  /** By the name that the model sees. */
  byHeard: ReadonlyMap<string, OfferedTool>;
}

/** One list of tools. */
export interface ToolList extends OfferedTools {
  /** Indexes of the tools that are not sent, because no rate covers them and the model can do without them. */
  dropped: readonly number[];
  /** The first of them, and its place; null: none. */
  search: { type: string; at: NonNullable<Place> } | null;
  /** The model may search for more tools; only upstreams of this shape support that. */
  searched: boolean;
}

export const NO_TOOLS: ToolList = {
  definitions: [],
  byHeard: new Map(),
  dropped: [],
  search: null,
  searched: false,
};

const HEARD_LENGTH_MAX = 64;
const NAME_LENGTH_MAX = 128;
const SINGLE = ["function", "custom"] as const;
const KINDS = [...SINGLE, "namespace"] as const;
/** Searches are paid per call; clients offer them unasked, beside tools of their own. */
const DROPPABLE = /^web_search(_preview)?(_\d{4}_\d{2}_\d{2})?$/;
/** Costs only the tokens of the tools that it finds, all of which are in the request or are added by its caller. */
const SEARCH = "tool_search";

/** Reads `tools` at the place. Throws a Refusal for an unsupported kind. */
export function parseOfferedTools(value: unknown, parent: Place = null): ToolList {
  const tools: Place = { parent, step: "tools" };
  const definitions: ToolDefinition[] = [];
  const byHeard = new Map<string, OfferedTool>();
  const dropped: number[] = [];
  const add = (given: JsonObject, namespace: string | null, at: NonNullable<Place>): void => {
    const tool: OfferedTool = {
      kind: given.type === "custom" ? "custom" : "function",
      name: readToolName(given.name, at),
      namespace,
    };
    const heard = heardName(tool);
    if (byHeard.has(heard)) throw invalid(at, "name", "repeats the name of another tool. Names must differ.");
    byHeard.set(heard, tool);
    definitions.push(tool.kind === "custom" ? customTool(given, heard, at) : functionTool(given, heard, at));
    requireToolCount(definitions.length, parent);
  };
  let search: ToolList["search"] = null;
  let searched = false;
  for (const [index, item] of readArray(value, parent, "tools").entries()) {
    const at: NonNullable<Place> = { parent: tools, step: index };
    const tool = readObject(item, tools, index);
    const type = readString(tool.type, at, "type");
    if (DROPPABLE.test(type)) {
      dropped.push(index);
      search ??= { type, at };
    } else if (type === SEARCH) searched = true;
    else if (type === "namespace") addGroup(tool, at, add);
    else if (type === "function" || type === "custom") add(tool, null, at);
    else throw notOpen(type, at, KINDS);
  }
  return { definitions, byHeard, dropped, search, searched };
}

/** Throws a Refusal if a search that is not sent is all that the lists offer. */
export function requireMoreThanSearch(lists: readonly ToolList[]): void {
  if (lists.some(({ definitions, searched }) => searched || definitions.length > 0)) return;
  const alone = lists.find(({ search }) => search !== null)?.search ?? null;
  if (alone !== null) throw searchAlone(alone.type, alone.at);
}

/**
 * The tools of `tools` and of later lists in the conversation. A tool may be listed again: its latest description
 * counts.
 */
export function joinedOffer(lists: readonly OfferedTools[]): OfferedTools {
  const definitions = new Map<string, ToolDefinition>();
  const byHeard = new Map<string, OfferedTool>();
  for (const list of lists) {
    for (const one of list.definitions) definitions.set(one.function.name, one);
    for (const [heard, tool] of list.byHeard) byHeard.set(heard, tool);
  }
  requireToolCount(definitions.size, null);
  return { definitions: [...definitions.values()], byHeard };
}

function addGroup(
  group: JsonObject,
  at: NonNullable<Place>,
  add: (given: JsonObject, namespace: string, at: NonNullable<Place>) => void,
): void {
  const namespace = readToolName(group.name, at);
  const inside: Place = { parent: at, step: "tools" };
  for (const [index, item] of readArray(group.tools, at, "tools").entries()) {
    const place: NonNullable<Place> = { parent: inside, step: index };
    const tool = readObject(item, inside, index);
    if (tool.type !== "function" && tool.type !== "custom")
      throw notInside(readString(tool.type, place, "type"), place);
    add(tool, namespace, place);
  }
}

const notOpen = (type: string, at: NonNullable<Place>, kinds: readonly string[]): Error =>
  refuse(
    "unsupported_value",
    at,
    "type",
    `${echo(type)} is not supported: it is one of the provider's own tools, which no published rate covers. Send one of ${list(kinds)}.`,
  );

const notInside = (type: string, at: NonNullable<Place>): Error =>
  type === "namespace"
    ? refuse(
        "unsupported_value",
        at,
        "type",
        `\`namespace\` cannot be inside another one. Send one of ${list(SINGLE)}.`,
      )
    : notOpen(type, at, SINGLE);

/** The name of a tool or of a group: 1 to 128 letters, digits, `_` and `-`. */
export const readToolName = (value: unknown, at: Place): string => readName(value, at, NAME_LENGTH_MAX);

/**
 * The name that the model sees: always the same for the same tool, whatever else is offered, and no longer than any shape accepts.
 */
export function heardName({ name, namespace }: Omit<OfferedTool, "kind">): string {
  const whole = namespace === null ? name : `${namespace}__${name}`;
  if (whole.length <= HEARD_LENGTH_MAX) return whole;
  const mark = new Bun.CryptoHasher("sha256").update(whole).digest("hex").slice(0, 8);
  return `${whole.slice(0, HEARD_LENGTH_MAX - mark.length - 1)}_${mark}`;
}

function functionTool(given: JsonObject, name: string, at: Place): ToolDefinition {
  const definition: ToolDefinition["function"] = { name, ...readNotes(given, at) };
  if (isPresent(given.parameters)) definition.parameters = readObject(given.parameters, at, "parameters");
  return { type: "function", function: definition };
}

/** A free-text tool is offered as a function with one string. */
function customTool(given: JsonObject, name: string, at: Place): ToolDefinition {
  const { description = "" } = readNotes(given, at);
  const grammar = isJsonObject(given.format) ? grammarOf(given.format, { parent: at, step: "format" }) : "";
  const text = [description, grammar].filter((one) => one !== "").join("\n\n");
  const parameters = {
    type: "object",
    properties: { input: { type: "string" } },
    required: ["input"],
    additionalProperties: false,
  };
  return { type: "function", function: { name, ...(text !== "" && { description: text }), parameters } };
}

function grammarOf(format: JsonObject, at: Place): string {
  if (format.type !== "grammar") return "";
  const syntax = readString(format.syntax, at, "syntax");
  return `\`input\` follows this ${syntax} grammar:\n${readString(format.definition, at, "definition")}`;
}

/** The text of a free-text tool as arguments of the function that stands for it, and back. */
export const argumentsOfInput = (input: string): string => JSON.stringify({ input });

/** Anything but such an object was written by a model that failed, and is shown as it is. */
export function inputOfArguments(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value) && typeof value.input === "string") return value.input;
  } catch {
    return text;
  }
  return text;
}
