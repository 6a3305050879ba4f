// `tool_choice` of a Responses request against the tools that it chooses from.
import type { ToolChoice } from "../../../domain/chat-request.ts";
import {
  echo,
  invalid,
  type JsonObject,
  type Place,
  readArray,
  readChoice,
  readObject,
  readString,
} from "../../../domain/read-value.ts";
import { readChoiceOfTools } from "../chat-completions/parse-tools.ts";
import { heardName, type OfferedTools, readToolName } from "./offered-tools.ts";

const KINDS = ["function", "custom", "allowed_tools"] as const;
const AT: Place = { parent: null, step: "tool_choice" };

interface Named {
  type: "function";
  function: { name: string };
}

/** Reads `tool_choice`; null if there is nothing to choose. */
export const parseOfferedChoice = (value: unknown, offered: OfferedTools): ToolChoice | null =>
  readChoiceOfTools(value, offered.definitions, (choice) => parseObject(choice, offered));

function parseObject(value: JsonObject, offered: OfferedTools): ToolChoice {
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
  throw invalid(at, "name", `${echo(name)} is not one of the request's \`tools\`.`);
}
