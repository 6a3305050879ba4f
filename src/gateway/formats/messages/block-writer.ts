// Prints neutral parts as blocks that begin, grow and end one after the other, as clients of this shape expect: they cannot handle
// two open blocks. A call that begins before the previous one is complete waits for it.
import { wireJson } from "../../../domain/wire-json.ts";
import { Failure } from "../../../providers/failure.ts";
import type { ShownPart } from "../format.ts";
import { sealedState, UNSIGNED } from "../../../domain/carried-state.ts";
import { citationOf } from "./citation.ts";

type NeutralPart = Exclude<ShownPart, { type: "native" }>;
type CallPart = Extract<ShownPart, { type: "tool_call" }>;

type Open = { type: "text" | "thinking" } | { type: "tool_use"; call: number; json: string };

/** One message. Every method returns the events to send now, possibly none. */
export class BlockWriter {
  private index = -1;
  private open: Open | null = null;
  private waiting: { call: CallPart; json: string }[] = [];
  /** The text so far, for its citations. */
  private text = "";
  refused = false;

  /** Prints one event under its name; `members` follow the type in its data. */
  constructor(private readonly event: (name: string, members: string) => string) {}

  part(part: NeutralPart): string {
    switch (part.type) {
      case "refusal":
        this.refused = true;
        return this.say(part.text);
      case "text":
        return this.say(part.text);
      case "reasoning":
        return this.within("thinking") + this.delta(`"thinking_delta","thinking":${wireJson(part.text)}`);
      case "tool_call":
        if (this.waiting.length === 0 && this.whole()) return this.close() + this.begin(part);
        this.waiting.push({ call: part, json: "" });
        return "";
      case "tool_arguments":
        return this.argue(part.index, part.text);
      case "annotations":
        return this.open?.type === "text"
          ? part.annotations
              .map((one) =>
                this.delta(`"citations_delta","citation":${wireJson(citationOf(one, this.text))}`),
              )
              .join("")
          : "";
    }
  }

  /** Ends the open block, and those that wait for it. */
  end(): string {
    let text = this.close();
    for (const { call, json } of this.waiting.splice(0))
      text += this.begin(call) + this.write(json) + this.close();
    return text;
  }

  private say(words: string): string {
    this.text += words;
    return this.within("text") + this.delta(`"text_delta","text":${wireJson(words)}`);
  }

  private within(type: "text" | "thinking"): string {
    if (this.open?.type === type) return "";
    const text = this.end();
    this.open = { type };
    const empty = type === "text" ? `"text":""` : `"thinking":"","signature":""`;
    return text + this.start(`{"type":"${type}",${empty}}`);
  }

  private begin(call: CallPart): string {
    const sealed = call.extraContent === undefined ? "" : this.sealed(call.extraContent);
    this.open = { type: "tool_use", call: call.index, json: "" };
    const named = `"id":${wireJson(call.id)},"name":${wireJson(call.name)}`;
    return sealed + this.start(`{"type":"tool_use",${named},"input":{}}`);
  }

  private sealed(state: Record<string, unknown>): string {
    return this.start(`{"type":"redacted_thinking","data":${wireJson(sealedState(state))}}`) + this.stop();
  }

  private argue(call: number, json: string): string {
    if (this.open?.type === "tool_use" && this.open.call === call) {
      let text = this.write(json);
      while (this.waiting.length > 0 && this.whole()) text += this.close() + this.next();
      return text;
    }
    const waits = this.waiting.find((one) => one.call.index === call);
    if (waits === undefined)
      throw new Failure("broken", "unknown", "the upstream continued a tool call that had already ended");
    waits.json += json;
    return "";
  }

  private next(): string {
    const next = this.waiting.shift();
    return next === undefined ? "" : this.begin(next.call) + this.write(next.json);
  }

  private write(json: string): string {
    if (json === "" || this.open?.type !== "tool_use") return "";
    this.open.json += json;
    return this.delta(`"input_json_delta","partial_json":${wireJson(json)}`);
  }

  /** Whether the open block is complete. */
  private whole(): boolean {
    if (this.open?.type !== "tool_use") return true;
    const { json } = this.open;
    if (!json.trimEnd().endsWith("}")) return false;
    try {
      JSON.parse(json);
      return true;
    } catch {
      return false;
    }
  }

  private close(): string {
    const { open } = this;
    if (open === null) return "";
    this.open = null;
    const signed = open.type === "thinking" ? this.delta(`"signature_delta","signature":"${UNSIGNED}"`) : "";
    return signed + this.stop();
  }

  private start(block: string): string {
    this.index += 1;
    return this.event("content_block_start", `"index":${this.index},"content_block":${block}`);
  }

  private delta(members: string): string {
    return this.event("content_block_delta", `"index":${this.index},"delta":{"type":${members}}`);
  }

  private stop(): string {
    return this.event("content_block_stop", `"index":${this.index}`);
  }
}
