// What all surfaces but chat completions need to say a request of the page in their words, and to read what they answer.
import type { ChatBody, Chunk, Said, ToolCallPart } from "./chat.ts";

export interface Words {
  /** The body that says the same here. */
  body(this: void, request: ChatBody): object;
  /** One event of a stream, of which `calls` knows those before. */
  event(this: void, data: unknown, calls: CallPlaces): Chunk;
  /** A whole answer. */
  whole(this: void, answer: unknown): Chunk;
}

type FunctionTool = { name: string; description?: string; parameters?: object };

export const functionsOf = ({ tools = [] }: ChatBody): FunctionTool[] =>
  tools.map((tool) => (tool as { function: FunctionTool }).function);

export const systemOf = ({ messages }: ChatBody): string | undefined =>
  messages.find((message) => message.role === "system")?.content ?? undefined;

export const said = (delta: Said): Chunk => ({ choices: [{ delta }] });

/** Calls stand among other items of a stream: here they are counted by themselves. */
export class CallPlaces {
  private readonly places = new Map<number, number>();

  said(at: number, { id, ...named }: { id?: string; name?: string; arguments?: string }): Chunk {
    const index = this.places.get(at) ?? this.places.size;
    this.places.set(at, index);
    const call: ToolCallPart = { index, ...(id !== undefined && { id }), function: named };
    return said({ tool_calls: [call] });
  }
}
