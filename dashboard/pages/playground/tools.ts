// Tool definitions as people type them: JSON, checked by the same rule as on the server.
import { parseTools } from "../../../src/gateway/formats/chat-completions/parse-tools.ts";
import { Refusal } from "../../../src/domain/refusals.ts";
import { playgroundTexts as words } from "./texts.ts";

interface Read {
  found: readonly object[];
  /** The error; null if the definitions are valid. */
  problem: string | null;
}

export function readTools(typed: string): Read {
  if (typed.trim() === "") return { found: [], problem: null };
  try {
    const tools: unknown = JSON.parse(typed);
    if (!Array.isArray(tools)) return { found: [], problem: words.toolsArray };
    return { found: parseTools(tools), problem: null };
  } catch (error) {
    if (error instanceof Refusal) return { found: [], problem: error.message };
    if (error instanceof SyntaxError) return { found: [], problem: words.toolsNotJson(error.message) };
    throw error;
  }
}

export const EXAMPLE = JSON.stringify(
  [
    {
      type: "function",
      function: {
        name: "get_weather",
        description: "The weather of a city, now.",
        parameters: {
          type: "object",
          properties: { city: { type: "string" } },
          required: ["city"],
        },
      },
    },
  ],
  null,
  2,
);
