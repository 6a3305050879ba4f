// Requests of the Responses shape, and what is read of them.
import type { ToolCall } from "../../../domain/chat-request.ts";
import { Refusal } from "../../../domain/refusals.ts";
import { parseResponseRequest } from "./parse-response-request.ts";

/** The least that a request says. */
export const BASE = { model: "m", input: "Hi" };

/** What a request with these members says. */
export const read = (also: object) => parseResponseRequest({ ...BASE, ...also }).request;

/** What a request with these members is refused for: code, place and words. */
export function refused(also: object): [string, string | null, string] {
  try {
    read(also);
  } catch (error) {
    if (error instanceof Refusal) return [error.code, error.param, error.message];
    throw error;
  }
  throw new Error("accepted");
}

export const look = { type: "function", name: "look", parameters: { type: "object" } };
export const callItem = (id: string, also: object = {}) => ({
  type: "function_call",
  call_id: id,
  name: "look",
  arguments: "{}",
  ...also,
});
export const output = (id: string, said: unknown = "seen") => ({
  type: "function_call_output",
  call_id: id,
  output: said,
});
export const toolCallOf = (id: string, name = "look", text = "{}"): ToolCall => ({
  id,
  type: "function",
  function: { name, arguments: text },
});
