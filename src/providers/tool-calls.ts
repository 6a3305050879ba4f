// Tool calls of one choice across chunks: indexes 0, 1, 2 … in order of first appearance, whatever the upstream counts;
// a call without an id gets one (wire.md §8.2, money.md §12 fault 53).
import { randomBase62 } from "../lib/id.ts";
import type { Part } from "./provider.ts";
import { isObject } from "./usage.ts";

export class ToolCalls {
  /** The upstream's index, or its id where it sends no index, → ours. */
  private readonly indexes = new Map<string, number>();
  private lastKey = "";

  constructor(private readonly choice: number) {}

  /** Appends the parts of one `tool_calls` array. */
  read(fragments: unknown[], parts: Part[]): void {
    for (const fragment of fragments) if (isObject(fragment)) this.readOne(fragment, parts);
  }

  private readOne(fragment: Record<string, unknown>, parts: Part[]): void {
    const called = isObject(fragment["function"]) ? fragment["function"] : {};
    const key = this.keyOf(fragment, called);
    const known = this.indexes.get(key);
    const index = known ?? this.indexes.size;
    const { choice } = this;
    if (known === undefined) {
      this.indexes.set(key, index);
      const id =
        typeof fragment["id"] === "string" && fragment["id"] !== ""
          ? fragment["id"]
          : `call_${randomBase62(24)}`;
      const name = typeof called["name"] === "string" ? called["name"] : "";
      const extra = fragment["extra_content"];
      const part = { type: "tool_call", choice, index, id, name } as const;
      parts.push(isObject(extra) ? { ...part, extraContent: extra } : part);
    }
    this.lastKey = key;
    const text = argumentText(called["arguments"]);
    if (text !== "") parts.push({ type: "tool_arguments", choice, index, text });
  }

  private keyOf(fragment: Record<string, unknown>, called: Record<string, unknown>): string {
    if (typeof fragment["index"] === "number") return `#${fragment["index"]}`;
    if (typeof fragment["id"] === "string" && fragment["id"] !== "") return fragment["id"];
    if (typeof called["name"] === "string" && called["name"] !== "") return `new ${this.indexes.size}`;
    return this.lastKey;
  }
}

/** Arguments as text; an object is printed. */
export function argumentText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}
