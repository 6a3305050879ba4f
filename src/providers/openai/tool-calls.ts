// The tool calls of one choice across chunks. Ours count 0, 1, 2 … in order of first appearance, whatever the
// upstream counts; a call without an id gets one, and a name is sent once (wire.md §3.1, §8.2; money.md §12
// fault 53).
import { isJsonObject } from "../../domain/read-value.ts";
import { requireFewCalls } from "../calls-max.ts";
import { namelessCall } from "../call-arguments.ts";
import { Failure } from "../failure.ts";
import { CALL_ID_CHARACTERS_MAX, GivenIds } from "../given-ids.ts";
import type { Part } from "../provider.ts";

/** The bound on what is kept for the calls of an answer: arguments before their name. */
const HELD_CHARACTERS_MAX = 4 * 1024 * 1024;
/** The bound on state that must come back to its provider; beyond it it is not kept, and the next turn is sent without. */
const EXTRA_CHARACTERS_MAX = 4 * 1024 * 1024;

interface Call {
  /** The upstream's id, "" if it sent none. */
  id: string;
  /** Ours; null until the name is known. */
  index: number | null;
  /** Arguments that came before the name. */
  held: string;
  extra: Record<string, unknown> | null;
}

/** If arguments come as an object, its numbers are passed on as they were written. */
export const EXACT = ["arguments"];

/** The calls of one choice; throws `Failure` for more calls, or larger ones, than an answer may have. */
export class ToolCalls {
  private readonly calls: Call[] = [];
  private readonly byIndex = new Map<number, Call>();
  /** The last call with each id. */
  private readonly byId = new Map<string, Call>();
  private begun = 0;
  private heldCharacters = 0;
  private extraCharacters = 0;
  private readonly ids = new GivenIds();

  constructor(
    private readonly choice: number,
    private readonly family: string,
  ) {}

  /** True if a call was handed over. */
  get any(): boolean {
    return this.begun > 0;
  }

  /** Appends the parts of one `tool_calls` array. */
  read(fragments: unknown[], parts: Part[]): void {
    for (const fragment of fragments) if (isJsonObject(fragment)) this.readOne(fragment, parts);
  }

  /** Throws `Failure` if a call has arguments but never got a name. */
  close(): void {
    if (this.calls.some(({ index, held }) => index === null && held !== "")) throw namelessCall();
  }

  private readOne(fragment: Record<string, unknown>, parts: Part[]): void {
    const called = isJsonObject(fragment["function"]) ? fragment["function"] : {};
    const name = typeof called["name"] === "string" ? called["name"] : "";
    const call = this.callOf(fragment, name);
    if (isJsonObject(fragment["extra_content"])) call.extra ??= this.bounded(fragment["extra_content"]);
    if (call.index === null && name !== "") this.begin(call, { name, parts });
    const text = argumentText(called["arguments"]);
    if (text === "") return;
    if (call.index === null) this.hold(call, text);
    else parts.push({ type: "tool_arguments", choice: this.choice, index: call.index, text });
  }

  private hold(call: Call, text: string): void {
    this.heldCharacters += text.length;
    if (this.heldCharacters > HELD_CHARACTERS_MAX)
      throw new Failure("broken", "unknown", "the upstream sent arguments for calls that it did not name");
    call.held += text;
  }

  private bounded(extra: Record<string, unknown>): Record<string, unknown> | null {
    if (this.extraCharacters > EXTRA_CHARACTERS_MAX) return null;
    this.extraCharacters += JSON.stringify(extra).length;
    return this.extraCharacters > EXTRA_CHARACTERS_MAX ? null : extra;
  }

  private begin(call: Call, { name, parts }: { name: string; parts: Part[] }): void {
    const { choice } = this;
    const index = this.begun++;
    call.index = index;
    const part = { type: "tool_call", choice, index, id: this.ids.give(call.id), name } as const;
    parts.push(call.extra === null ? part : { ...part, extraContent: { [this.family]: call.extra } });
    call.extra = null;
    if (call.held === "") return;
    parts.push({ type: "tool_arguments", choice, index, text: call.held });
    this.heldCharacters -= call.held.length;
    call.held = "";
  }

  /** Returns the call that a fragment belongs to: by index, else by id, else the last one; or a new one. */
  private callOf(fragment: Record<string, unknown>, name: string): Call {
    const at = typeof fragment["index"] === "number" ? fragment["index"] : null;
    const told = fragment["id"];
    const id = typeof told === "string" && told.length <= CALL_ID_CHARACTERS_MAX ? told : "";
    const known = this.known({ at, id, name });
    if (known === undefined) return this.add(at, id);
    if (known.id === "" && id !== "") {
      known.id = id;
      this.byId.set(id, known);
    }
    if (at !== null) this.byIndex.set(at, known);
    return known;
  }

  private known({ at, id, name }: { at: number | null; id: string; name: string }): Call | undefined {
    const sameIndex = at === null ? undefined : this.byIndex.get(at);
    if (sameIndex !== undefined) {
      // Some upstreams give every call index 0: another id with a name of its own is another call.
      const other = id !== "" && sameIndex.id !== "" && sameIndex.id !== id && name !== "";
      return other ? undefined : sameIndex;
    }
    if (id !== "" && (at === null || name === "")) {
      const sameId = this.byId.get(id);
      if (sameId !== undefined) return sameId;
    }
    return at === null && id === "" && name === "" ? this.calls.at(-1) : undefined;
  }

  private add(at: number | null, id: string): Call {
    requireFewCalls(this.calls.length);
    const call: Call = { id, index: null, held: "", extra: null };
    this.calls.push(call);
    if (id !== "") this.byId.set(id, call);
    if (at !== null) this.byIndex.set(at, call);
    return call;
  }
}

/** Returns the arguments as text; an object is printed. */
function argumentText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}
