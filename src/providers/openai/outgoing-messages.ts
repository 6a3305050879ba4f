// Messages in the form that an upstream of the OpenAI shape accepts (wire.md §1.2, §8.5): with the roles that it knows,
// with the thoughts and the state of its own that it wants back, and in the order that it requires.
import type { ContentPart, Message, Role, ToolCall } from "../../domain/chat-request.ts";
import { isJsonObject } from "../../domain/read-value.ts";
import { NO_ARGUMENTS } from "../../domain/tool-arguments.ts";
import { extraOf } from "../extra-content.ts";
import type { Dialect } from "./dialects.ts";
import { detailsIn } from "./reasoning-details.ts";
import { strictTurns } from "./strict-turns.ts";

export type OutgoingMessage = Record<string, unknown>;

/** The dialect of the upstream. */
export interface Hearer {
  /** The provider's name: the key under which its own state comes back (wire.md §8.4). */
  family: string;
  /** The issuer of its reasoning details (`issuerOf`), if it sends any. */
  issuer: string;
  /** The published mode; null if the release has none. */
  effort: string | null;
  dialect: Pick<Dialect, "developerRole" | "textParts" | "thoughts" | "strictTurns" | "reasoningDetails">;
}

/** Everything that can make the messages for two upstreams differ. */
export const alike = ({ family, issuer, effort, dialect }: Hearer): string =>
  JSON.stringify([
    thinks(effort),
    effort === null,
    family,
    dialect.developerRole,
    dialect.textParts,
    dialect.thoughts,
    dialect.strictTurns,
    dialect.reasoningDetails,
    issuer,
  ]);

export function outgoingMessages(messages: readonly Message[], hearer: Hearer): OutgoingMessage[] {
  const { strictTurns: strict } = hearer.dialect;
  return (strict ? strictTurns(messages) : messages).map((message) => outgoingMessage(message, hearer));
}

const thinks = (effort: string | null): boolean => effort !== null && effort !== "none";

function outgoingMessage(message: Message, hearer: Hearer): OutgoingMessage {
  const { tool_calls: calls, reasoning_content: _reasoning, failed: _failed, ...rest } = message;
  if (Array.isArray(rest.content))
    rest.content = contentOf(unmarked(rest.content), rest.role, hearer.dialect);
  if (rest.role === "developer" && !hearer.dialect.developerRole) return { ...rest, role: "system" };
  if (rest.role !== "assistant") return rest;
  return {
    ...rest,
    ...thoughtsOf(message, hearer),
    ...(calls !== undefined && { tool_calls: calls.map((call) => outgoingCall(call, hearer)) }),
  };
}

/** The separator between texts that are joined into one: none for an answer, which may have been split anywhere. */
const BETWEEN: Partial<Record<Role, string>> = { assistant: "", tool: "\n" };

function contentOf(
  parts: ContentPart[],
  role: Role,
  { textParts }: Pick<Dialect, "textParts">,
): string | ContentPart[] {
  if (textParts) return parts;
  const texts: string[] = [];
  for (const part of parts) {
    if (part.type === "text") texts.push(part.text);
    else if (part.type === "refusal") texts.push(part.refusal);
    else return parts;
  }
  return texts.join(BETWEEN[role] ?? "\n\n");
}

/** A vendor that rejects a turn without thoughts accepts a blank in place of those that a client lost. */
const LOST = " ";

function thoughtsOf(message: Message, { effort, issuer, family, dialect }: Hearer): object | null {
  const { tool_calls: calls, reasoning_content: told = "" } = message;
  const details = dialect.reasoningDetails ? detailsIn(calls, family, issuer) : null;
  if (details !== null) return { reasoning_details: details };
  switch (dialect.thoughts) {
    case "never":
      return null;
    case "calls":
      return thinks(effort) && calls !== undefined && told !== "" ? { reasoning_content: told } : null;
    case "always":
      if (effort === "none") return null;
      // A release without modes does not say whether its model thinks. If it does, only its calls are refused without thoughts.
      if (effort === null && told === "" && calls === undefined) return null;
      return { reasoning_content: told === "" ? LOST : told };
  }
}

/** Provider state is sent back only to the provider that it names. */
function outgoingCall(
  { id, type, function: called, extra_content: extra }: ToolCall,
  { family, dialect }: Hearer,
): object {
  const own = dialect.reasoningDetails ? undefined : extraOf(extra, family);
  const { name, arguments: text } = called;
  const args = text.trim() === "" ? NO_ARGUMENTS : text;
  return { id, type, function: { name, arguments: args }, ...(isJsonObject(own) && { extra_content: own }) };
}

/** Cache marks belong to another shape: vendors of this one cache automatically, or reject the member. */
export function unmarked<T extends object>(marked: T[]): T[] {
  if (!marked.some((one) => "cache_control" in one)) return marked;
  return marked.map((one) => {
    const { cache_control: _mark, ...rest } = one as T & { cache_control?: unknown };
    return rest as unknown as T;
  });
}
