// Calls of an answer that are handed over when it ends, since what must come back with them may arrive after them.
import { Failure } from "../failure.ts";
import type { Part } from "../provider.ts";

/** The bound on the arguments of all calls of a choice. */
const HELD_CHARACTERS_MAX = 8 * 1024 * 1024;

type Begun = Extract<Part, { type: "tool_call" }>;

/** The calls of one choice. */
export class HeldCalls {
  private readonly calls: { begun: Begun; text: string }[] = [];
  private characters = 0;

  /** Adds the parts of calls. Throws `Failure` if their arguments exceed the bound. */
  add(parts: readonly Part[]): void {
    for (const part of parts) {
      if (part.type === "tool_call") this.calls[part.index] = { begun: part, text: "" };
      if (part.type !== "tool_arguments") continue;
      this.characters += part.text.length;
      if (this.characters > HELD_CHARACTERS_MAX)
        throw new Failure("broken", "unknown", "the upstream sent tool calls with too many arguments");
      const call = this.calls[part.index];
      if (call !== undefined) call.text += part.text;
    }
  }

  /** Hands over all of them; `extra` goes with the first. */
  give(extra: Record<string, unknown> | null, parts: Part[]): void {
    for (const { begun, text } of this.calls.splice(0)) {
      const { choice, index } = begun;
      parts.push(withExtra(begun, extra));
      if (text !== "") parts.push({ type: "tool_arguments", choice, index, text });
    }
  }
}

/** Adds what must come back to the first call. */
export const withExtra = (part: Part, extra: Record<string, unknown> | null): Part =>
  part.type === "tool_call" && part.index === 0 && extra !== null ? { ...part, extraContent: extra } : part;
