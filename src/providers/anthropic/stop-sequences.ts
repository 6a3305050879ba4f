// The stop sequences of Claude. The vendor accepts no blank sequence; if one were left out, the answer would go on
// past it, and be charged for (docs/decisions/0072-a-stop-that-cannot-be-told.md).
import type { ChatRequest } from "../../domain/chat-request.ts";
import { echo, refuse } from "../../domain/read-value.ts";

/** Throws a `Refusal`, `unsupported_value` at `stop[i]`, for the first blank one. `model` is the public id. */
export function tellableStops({ stop }: Pick<ChatRequest, "stop">, model: string): readonly string[] {
  const blank = stop.findIndex((text) => text.trim() === "");
  if (blank === -1) return stop;
  const text = `contains only blanks, at which model ${echo(model)} cannot stop. Remove it, or use another model.`;
  throw refuse("unsupported_value", { parent: null, step: "stop" }, blank, text);
}
