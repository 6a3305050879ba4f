// `reasoning_details` (OpenRouter): what a model behind it thought, readable, summed up or sealed, which has to come back with later turns as
// it was told (wire.md §8.4). It leaves with the first call of the answer that it led to, under the provider's name and a mark of the model.
import type { ToolCall } from "../../domain/chat-request.ts";
import { isJsonObject, type JsonObject } from "../../domain/read-value.ts";
import { extraOf } from "../extra-content.ts";

/** Of one answer; beyond it none are kept, and the next turn is sent without. */
const CHARACTERS_MAX = 4 * 1024 * 1024;
/** Members that come in pieces. */
const GROWING = ["text", "summary", "data"] as const;

/** Of one choice: pieces of the same detail are joined, the details stay in their order. */
export class ReasoningDetails {
  private readonly details: JsonObject[] = [];
  private characters = 0;

  constructor(private readonly issuer: string) {}

  read(list: readonly unknown[]): void {
    for (const told of list) {
      if (!isJsonObject(told)) continue;
      this.characters += JSON.stringify(told).length;
      if (this.characters > CHARACTERS_MAX) continue;
      const last = this.details.at(-1);
      if (last === undefined || !goesOn(last, told)) this.details.push({ ...told });
      else join(last, told);
    }
  }

  /** What leaves with a call; null where there is none, or too much. */
  kept(): JsonObject | null {
    if (this.details.length === 0 || this.characters > CHARACTERS_MAX) return null;
    return { issuer: this.issuer, reasoning_details: this.details };
  }
}

/** A whole answer tells each detail once, and each has a place of its own. */
const goesOn = (last: JsonObject, told: JsonObject): boolean =>
  typeof told.index === "number" && told.index === last.index && told.type === last.type;

function join(last: JsonObject, told: JsonObject): void {
  for (const [name, value] of Object.entries(told)) {
    const before = last[name];
    const grows = (GROWING as readonly string[]).includes(name);
    if (grows && typeof before === "string" && typeof value === "string") last[name] = before + value;
    else if (value !== null) last[name] = value;
  }
}

/** Those that came back with these calls, for the model that told them; null for none. */
export function detailsIn(
  calls: readonly ToolCall[] | undefined,
  family: string,
  issuer: string,
): unknown[] | null {
  const details: unknown[] = [];
  for (const { extra_content: extra } of calls ?? []) {
    const own = extraOf(extra, family);
    if (!isJsonObject(own) || own.issuer !== issuer || !Array.isArray(own.reasoning_details)) continue;
    for (const one of own.reasoning_details as unknown[]) details.push(one);
  }
  return details.length === 0 ? null : details;
}
