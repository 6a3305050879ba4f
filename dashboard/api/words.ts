// What every surface other than chat completions needs to translate a request of the page and to read the answers.
import type { ChatBody, Chunk, Said, ToolCallPart } from "./chat.ts";

export interface Words {
  /** The body of the same request on this surface. */
  body(this: void, request: ChatBody): object;
  /** Translates one event of a stream; `calls` knows the tool calls before it. */
  event(this: void, data: unknown, calls: CallPlaces): Chunk;
  /** Translates a whole answer. */
  whole(this: void, answer: unknown): Chunk;
}

type FunctionTool = { name: string; description?: string; parameters?: object };

export const functionsOf = ({ tools = [] }: ChatBody): FunctionTool[] =>
  tools.map((tool) => (tool as { function: FunctionTool }).function);

export const systemOf = ({ messages }: ChatBody): string | undefined =>
  messages.find((message) => message.role === "system")?.content ?? undefined;

export const said = (delta: Said): Chunk => ({ choices: [{ delta }] });

/** Tool calls are mixed with other items of a stream; this numbers the calls alone. */
export class CallPlaces {
  private readonly places = new Map<number, number>();

  said(at: number, { id, ...named }: { id?: string; name?: string; arguments?: string }): Chunk {
    const index = this.places.get(at) ?? this.places.size;
    this.places.set(at, index);
    const call: ToolCallPart = { index, ...(id !== undefined && { id }), function: named };
    return said({ tool_calls: [call] });
  }
}
