// Requests of the Responses shape, and what is read from them.
import type { ToolCall } from "../../../domain/chat-request.ts";
import { Refusal } from "../../../domain/refusals.ts";
import { parseResponseRequest } from "./parse-response-request.ts";

/** The smallest request. */
export const BASE = { model: "m", input: "Hi" };

/** The neutral request with these members. */
export const read = (also: object) => parseResponseRequest({ ...BASE, ...also }).request;

/** The refusal of a request with these members: code, place and message. */
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
