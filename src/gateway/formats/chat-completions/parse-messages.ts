// The conversation (wire.md §1.2): every role with what it may carry, rebuilt from known fields only, so that nothing unchecked
// reaches a provider. Tool calls and their answers are paired before money is held.
import type { Message, Role, ToolCall } from "../../../domain/chat-request.ts";
import { parseContent } from "./parse-content.ts";
import {
  echo,
  found,
  invalid,
  isJsonObject,
  isPresent,
  type JsonObject,
  type Place,
  readArray,
  readBoundedString,
  readChoice,
  readObject,
  readString,
  refuse,
} from "../../../domain/read-value.ts";

const ROLES = ["system", "developer", "user", "assistant", "tool"] as const;
const MESSAGES: Place = { parent: null, step: "messages" };
/** Names and ids go back and forth; longer ones are content in the wrong place. */
const MAX_LENGTH = { id: 512, name: 256 };

/** Reads `messages`: at least one, each valid for its role, each tool call answered and each answer to a call. */
export function parseMessages(value: unknown): Message[] {
  const items = readArray(value, null, "messages");
  if (items.length === 0) throw invalid(null, "messages", "must contain at least one message.");
  const messages = items.map(parseMessage);
  requirePairedToolCalls(messages);
  return messages;
}

function parseMessage(value: unknown, index: number): Message {
  if (!isJsonObject(value)) throw invalid(MESSAGES, index, `must be an object, ${found(value)}.`);
  const at: Place = { parent: MESSAGES, step: index };
  const role: Role = readChoice(value.role, ROLES, at, "role");
  const message: Message = { role, content: parseContent(value.content, role, at) };
  if (role === "assistant") readAssistantFields(value, message, at);
  else if (message.content === null)
    throw invalid(at, "content", "is missing. Send a string or an array of parts.");
  if (role === "tool")
    message.tool_call_id = readNonEmpty(value.tool_call_id, at, "tool_call_id", MAX_LENGTH.id);
  else if (isPresent(value.name)) message.name = readBoundedString(value.name, at, "name", MAX_LENGTH.name);
  return message;
}

function readAssistantFields(value: JsonObject, message: Message, at: Place): void {
  if (isPresent(value.audio))
    throw refuse("unsupported_value", at, "audio", "is not supported. Send the answer's text as `content`.");
  if (isPresent(value.refusal)) message.refusal = readString(value.refusal, at, "refusal");
  if (isPresent(value.reasoning_content))
    message.reasoning_content = readString(value.reasoning_content, at, "reasoning_content");
  if (isPresent(value.tool_calls)) {
    const calls: Place = { parent: at, step: "tool_calls" };
    const toolCalls = readArray(value.tool_calls, at, "tool_calls").map((call, index) =>
      parseToolCall(call, { parent: calls, step: index }),
    );
    if (toolCalls.length > 0) message.tool_calls = toolCalls;
  }
  // A refusal that we delivered comes back with `content: null`; it says something, so it may stand alone.
  if (message.content === null && message.tool_calls === undefined && !message.refusal)
    throw invalid(at, "content", "is missing. Only an assistant message with `tool_calls` may leave it out.");
}

function parseToolCall(value: unknown, at: NonNullable<Place>): ToolCall {
  const call = readObject(value, at.parent, at.step);
  if (isPresent(call.type)) readChoice(call.type, ["function"], at, "type");
  const inside: Place = { parent: at, step: "function" };
  const named = readObject(call.function, at, "function");
  const toolCall: ToolCall = {
    id: readNonEmpty(call.id, at, "id", MAX_LENGTH.id),
    type: "function",
    function: {
      name: readNonEmpty(named.name, inside, "name", MAX_LENGTH.name),
      arguments: readString(named.arguments, inside, "arguments"),
    },
  };
  if (isPresent(call.extra_content))
    toolCall.extra_content = readObject(call.extra_content, at, "extra_content");
  return toolCall;
}

const hasToWithTools = ({ tool_calls: calls, tool_call_id: answered }: Message): boolean =>
  calls !== undefined || answered !== undefined;

/** One pass: calls open with an assistant message and close with the tool message that names them. */
function requirePairedToolCalls(messages: readonly Message[]): void {
  if (!messages.some(hasToWithTools)) return;
  const open = new Map<string, number>();
  const called = new Set<string>();
  for (const [index, { tool_calls: calls, tool_call_id: answered }] of messages.entries()) {
    if (calls !== undefined)
      for (const { id } of calls) {
        open.set(id, index);
        called.add(id);
      }
    if (answered === undefined) continue;
    if (!called.has(answered)) throw uncalled(answered, index);
    open.delete(answered);
  }
  for (const [id, index] of open) {
    const text = `calls tool ${echo(id)}, but no tool message after it answers with that \`tool_call_id\`. Add one.`;
    throw invalid({ parent: MESSAGES, step: index }, "role", text);
  }
}

function uncalled(id: string, index: number): Error {
  const text = `names ${echo(id)}, but no earlier assistant message has that id in its \`tool_calls\`.`;
  return invalid({ parent: MESSAGES, step: index }, "tool_call_id", text);
}

function readNonEmpty(value: unknown, at: Place, step: string, max: number): string {
  const text = readBoundedString(value, at, step, max);
  if (text === "") throw invalid(at, step, "must not be empty.");
  return text;
}
