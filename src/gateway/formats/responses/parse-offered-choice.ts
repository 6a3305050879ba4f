// `tool_choice` of a Responses request against the tools that it chooses from.
import type { ToolChoice } from "../../../domain/chat-request.ts";
import {
  echo,
  found,
  invalid,
  isJsonObject,
  type JsonObject,
  list,
  type Place,
  readArray,
  readChoice,
  readObject,
  readString,
  refuse,
} from "../../../domain/read-value.ts";
import { heardName, type OfferedTools, readToolName } from "./offered-tools.ts";

const WORDS = ["none", "auto", "required"] as const;
const KINDS = ["function", "custom", "allowed_tools"] as const;
const AT: Place = { parent: null, step: "tool_choice" };

interface Named {
  type: "function";
  function: { name: string };
}

/** Reads `tool_choice`; null where there is nothing to choose. */
export function parseOfferedChoice(value: unknown, offered: OfferedTools): ToolChoice | null {
  const choice = typeof value === "string" ? readWord(value) : parseObject(value, offered);
  if (offered.definitions.length > 0) return choice;
  if (choice === "none" || choice === "auto") return null;
  throw invalid(
    null,
    "tool_choice",
    "asks for a tool, but none is offered that is open. Leave this field out.",
  );
}

function readWord(value: string): ToolChoice {
  const word = WORDS.find((candidate) => candidate === value);
  if (word !== undefined) return word;
  const text = `${echo(value)} is not open. Send one of ${list(WORDS)}, or an object that names a tool.`;
  throw refuse("unsupported_value", null, "tool_choice", text);
}

function parseObject(value: unknown, offered: OfferedTools): ToolChoice {
  if (!isJsonObject(value))
    throw invalid(null, "tool_choice", `must be a string or an object, ${found(value)}.`);
  if (readChoice(value.type, KINDS, AT, "type") !== "allowed_tools") return named(value, AT, offered);
  const mode = readChoice(value.mode, ["auto", "required"], AT, "mode");
  const place: Place = { parent: AT, step: "tools" };
  const tools = readArray(value.tools, AT, "tools").flatMap((item, index) => {
    const at: Place = { parent: place, step: index };
    const tool = readObject(item, place, index);
    const type = readString(tool.type, at, "type");
    return type === "function" || type === "custom" ? [named(tool, at, offered)] : []; // what is not offered is not allowed
  });
  if (tools.length === 0) throw invalid(AT, "tools", "must name at least one of the request's functions.");
  return { type: "allowed_tools", allowed_tools: { mode, tools } };
}

function named(given: JsonObject, at: Place, { byHeard }: OfferedTools): Named {
  const name = readToolName(given.name, at);
  const namespace = typeof given.namespace === "string" ? given.namespace : null;
  const heard = heardName({ name, namespace });
  if (byHeard.has(heard)) return { type: "function", function: { name: heard } };
  throw invalid(at, "name", `${echo(name)} is none of the request's \`tools\`.`);
}
