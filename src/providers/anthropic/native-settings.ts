// Settings in a caller's own Messages body that need a beta which its host, or its model, does not have: they would be
// rejected there, so they are left out and named, as for models of other shapes (decision 49).
import { isJsonObject, isPresent, type JsonObject } from "../../domain/read-value.ts";
import { isSent } from "./betas.ts";
import type { EnvelopeName } from "./envelopes.ts";

const BUDGETS = "task-budgets-2026-03-13";
const BINDING = "thinking-binding-controls-2026-08-01";
const CLEARING = "mid-conversation-system-clear-at-2026-08-21";
const TOOL_CHANGES = "mid-conversation-tool-changes-2026-07-01";

export interface KnownSettings {
  /** The same object if every setting is known. */
  body: JsonObject;
  /** What was left out, as listed in `x-gw-ignored-parameters`. */
  ignored: string[];
  /** True if every block of `messages` is still where its caller wrote it. */
  places: boolean;
}

/** Returns the body with the settings that its host knows. `systemTurns`: its model knows system messages as turns. */
export function knownSettings(
  body: JsonObject,
  { host, systemTurns }: { host: EnvelopeName; systemTurns: boolean },
): KnownSettings {
  const ignored = new Set<string>();
  let kept = body;
  if (!isSent(BUDGETS, host)) kept = without(kept, ["output_config", "task_budget"], ignored);
  if (!isSent(BINDING, host)) kept = without(kept, ["thinking", "block_binding"], ignored);
  const { messages } = body;
  if (!Array.isArray(messages) || !messages.some(isSystem))
    return { body: kept, ignored: [...ignored], places: true };
  const clears = systemTurns && isSent(CLEARING, host);
  const changes = systemTurns && isSent(TOOL_CHANGES, host);
  const added = new Set<unknown>();
  const turns = messages.flatMap((message: unknown) => {
    if (!isSystem(message)) return [message];
    const timed = clears ? message : withoutMember(message, "clear_at", "messages.clear_at", ignored);
    return changes ? [timed] : withoutToolChanges(timed, ignored, added);
  });
  if (turns.every((turn, at) => turn === messages[at]) && turns.length === messages.length)
    return { body: kept, ignored: [...ignored], places: true };
  kept = { ...kept, messages: turns };
  // A tool that waits to be added would never be offered.
  if (added.size > 0 && Array.isArray(body["tools"]))
    kept["tools"] = (body["tools"] as unknown[]).map((tool) => offeredAtOnce(tool, added));
  return { body: kept, ignored: [...ignored], places: [...ignored].every((name) => !isOfTools(name)) };
}

const isOfTools = (name: string): boolean => name.startsWith("messages.tool_");

const isSystem = (message: unknown): message is JsonObject =>
  isJsonObject(message) && message["role"] === "system";

function without(body: JsonObject, [outer, inner]: [string, string], ignored: Set<string>): JsonObject {
  const value = body[outer];
  if (!isJsonObject(value)) return body;
  const kept = withoutMember(value, inner, `${outer}.${inner}`, ignored);
  return kept === value ? body : { ...body, [outer]: kept };
}

function withoutMember(value: JsonObject, name: string, path: string, ignored: Set<string>): JsonObject {
  if (!isPresent(value[name])) return value;
  ignored.add(path);
  const { [name]: _unknown, ...rest } = value;
  return rest;
}

/** Returns no message if nothing else is in it; `added` collects the names of the tools that it adds. */
function withoutToolChanges(message: JsonObject, ignored: Set<string>, added: Set<unknown>): JsonObject[] {
  const { content } = message;
  if (!Array.isArray(content)) return [message];
  const left = content.filter((block: unknown) => {
    if (!isJsonObject(block)) return true;
    const { type, tool } = block;
    if (type !== "tool_addition" && type !== "tool_removal") return true;
    ignored.add(`messages.${type}`);
    if (type === "tool_addition" && isJsonObject(tool)) added.add(tool["tool_name"]);
    return false;
  });
  if (left.length === content.length) return [message];
  return left.length === 0 ? [] : [{ ...message, content: left }];
}

function offeredAtOnce(tool: unknown, added: ReadonlySet<unknown>): unknown {
  if (!isJsonObject(tool) || !added.has(tool["name"])) return tool;
  const { defer_loading: _waits, ...rest } = tool;
  return rest;
}
