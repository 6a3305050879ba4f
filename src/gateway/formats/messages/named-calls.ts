// Ids by which a client answers the calls of one native message: the upstream's own if it is unique, else one of ours
// (docs/decisions/0076-odd-native-events-are-put-right.md).
import type { JsonObject } from "../../../domain/read-value.ts";

export class NamedCalls {
  private readonly taken = new Set<string>();

  constructor(private readonly requestId: string) {}

  /** The block to pass on: unchanged unless it is a call with an invalid id. */
  named(block: JsonObject): JsonObject {
    if (block.type !== "tool_use") return block;
    const { id: told } = block;
    const isGood = typeof told === "string" && told !== "" && !this.taken.has(told);
    const id = isGood ? told : `toolu_${this.requestId.slice(4)}_${this.taken.size}`;
    this.taken.add(id);
    return isGood ? block : { ...block, id };
  }
}
