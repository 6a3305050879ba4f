// Tools, the tool choice, and structured outputs, in the vendor's form.
import type { ChatRequest, ToolDefinition } from "../../domain/chat-request.ts";
import { isExactNumber } from "../../domain/exact-json.ts";
import { echo, isJsonObject, refuse } from "../../domain/read-value.ts";
import type { Contract } from "./contracts.ts";

type Asked = Pick<ChatRequest, "tools" | "toolChoice" | "forwarded">;

/** True if a tool call is required. */
export const isForced = ({ toolChoice }: Asked): boolean =>
  typeof toolChoice === "string"
    ? toolChoice === "required"
    : toolChoice?.type === "function" || toolChoice?.allowed_tools.mode === "required";

/**
 * Returns `tools` and `tool_choice`; nothing if there are none and none were called before. A conversation with calls
 * needs descriptions of their tools, even if they may not be called again. Throws `Refusal` if the model does not
 * support the choice.
 */
export function claudeTools(
  request: Asked,
  {
    called,
    contract,
    strict,
    model,
  }: { called: ReadonlySet<string>; contract: Contract; strict: boolean; model: string },
): Record<string, unknown> {
  if (request.tools.length === 0) {
    if (called.size === 0) return {};
    const tools = [...called].map((name) => ({ name, input_schema: { type: "object" } }));
    return { tools, tool_choice: { type: "none" } };
  }
  if (isForced(request) && !contract.forcedTools)
    throw refuse(
      "unsupported_value",
      null,
      "tool_choice",
      `cannot force a tool call with model ${echo(model)}: send \`auto\`, and say in the messages what to call.`,
    );
  const choice = choiceOf(request);
  return {
    tools: allowed(request).map((tool) => described(tool, strict)),
    ...(choice !== null && { tool_choice: choice }),
  };
}

function allowed({ tools, toolChoice }: Asked): readonly ToolDefinition[] {
  if (toolChoice === null || typeof toolChoice === "string" || toolChoice.type === "function") return tools;
  const names = new Set(toolChoice.allowed_tools.tools.map(({ function: { name } }) => name));
  return tools.filter(({ function: { name } }) => names.has(name));
}

function choiceOf(request: Asked): Record<string, unknown> | null {
  const { toolChoice, forwarded } = request;
  if (toolChoice === "none") return { type: "none" };
  const single = forwarded.parallel_tool_calls === false ? { disable_parallel_tool_use: true } : {};
  if (toolChoice !== null && typeof toolChoice !== "string" && toolChoice.type === "function")
    return { type: "tool", name: toolChoice.function.name, ...single };
  if (isForced(request)) return { type: "any", ...single };
  return toolChoice === null && forwarded.parallel_tool_calls !== false ? null : { type: "auto", ...single };
}

/** `strict` only if the release supports schemas at all. */
function described(
  { function: tool, cache_control: mark }: ToolDefinition,
  strict: boolean,
): Record<string, unknown> {
  const { name, description, parameters = {} } = tool;
  return {
    name,
    ...(description !== undefined && description !== "" && { description }),
    input_schema: { ...parameters, type: "object" },
    ...(strict && tool.strict === true && { strict: true }),
    ...(mark !== undefined && { cache_control: mark }),
  };
}

/** For `output_config`; null = text. Throws `Refusal` for a format that the vendor does not support. */
export function formatOf(format: ChatRequest["responseFormat"], model: string): object | null {
  if (format === null || format.type === "text") return null;
  const schema = format.type === "json_schema" ? format.json_schema.schema : undefined;
  if (schema === undefined)
    throw refuse(
      "unsupported_value",
      null,
      "response_format",
      `can only be {"type": "text"} or a {"type": "json_schema"} with its \`schema\` with model ${echo(model)}.`,
    );
  return { type: "json_schema", schema: closed(schema) };
}

/** The vendor requires every object to be closed; a schema that says so itself is kept. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (!isJsonObject(schema) || isExactNumber(schema)) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  const open =
    inner["type"] === "object" &&
    isJsonObject(inner["properties"]) &&
    inner["additionalProperties"] === undefined;
  return open ? { ...inner, additionalProperties: false } : inner;
}
