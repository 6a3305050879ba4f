// `reasoning_details` (OpenRouter): what a model behind it thought, as text, as a summary or sealed, which must come
// back unchanged with later turns (wire.md §8.4). They are handed over with the first call that they led to, under
// the provider's name and with a mark of the model.
import type { ToolCall } from "../../domain/chat-request.ts";
import { isJsonObject, type JsonObject } from "../../domain/read-value.ts";
import { extraOf } from "../extra-content.ts";

/** The bound for one answer; beyond it none are kept, and the next turn is sent without. */
const CHARACTERS_MAX = 4 * 1024 * 1024;
/** Members that come in pieces. */
const GROWING = ["text", "summary", "data"] as const;

/** The details of one choice: pieces of the same detail are joined, and the details keep their order. */
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

  /** Returns what is handed over with a call; null if there is nothing, or too much. */
  kept(): JsonObject | null {
    if (this.details.length === 0 || this.characters > CHARACTERS_MAX) return null;
    return { issuer: this.issuer, reasoning_details: this.details.map((one) => ({ ...one })) };
  }
}

/** A whole answer has each detail once, with a place of its own. */
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

/** Returns the details that came back with these calls, for the model that issued them; null for none. */
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
