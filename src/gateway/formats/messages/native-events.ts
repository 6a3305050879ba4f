// What an upstream of this very shape has told of its stream: the few events that are read before they go on, or wait.
import { withExact } from "../../../domain/exact-json.ts";
import { isJsonObject, type JsonObject } from "../../../domain/read-value.ts";
import { wireJson } from "../../../domain/wire-json.ts";

/** A name that cannot end its line. */
const NAME = /^[a-z_.]{1,64}$/;

/** What a block is that grows so, where nobody said that it began. */
const BEGUN_BY: Record<string, object> = {
  text_delta: { type: "text", text: "" },
  thinking_delta: { type: "thinking", thinking: "", signature: "" },
};

/** Of all that is told of its end: as much as one event may say. */
const LAST_CHARACTERS_MAX = 8 * 1024 * 1024;

export class NativeEvents {
  /** Its last words, which wait for ours. */
  last: JsonObject | null = null;
  /** Open blocks: our index by theirs, the same unless they count oddly. */
  private readonly open = new Map<number, number>();
  private lastCharacters = 0;
  private blocks = 0;
  /** How the vendor prints what grows the block that began last; anything else is read whole. */
  private growing = "";

  constructor(private readonly print: (event: string, data: string) => string) {}

  /** The first event with our names and the receipt without cost. */
  start(data: string, { gateway, ...ours }: { id: string; model: string; gateway: string }): string {
    const { message } = read(data);
    const { gateway: _none, ...told } = isJsonObject(message) ? message : {};
    const whole = {
      type: "message",
      role: "assistant",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      ...told,
      usage: isJsonObject(told["usage"]) ? told["usage"] : { input_tokens: 0, output_tokens: 0 },
      ...ours,
    };
    return `{"type":"message_start","message":${wireJson(whole).slice(0, -1)},"gateway":${gateway}}}`;
  }

  /** What of an event goes on now, printed; its last ones wait, and what no client could place stays behind. */
  shown(event: string, data: string): string {
    switch (event) {
      case "content_block_delta":
        if (this.growing !== "" && data.startsWith(this.growing)) return this.print(event, data);
        return this.grown(data, Number(read(data)["index"]));
      case "content_block_start": {
        const index = Number(read(data)["index"]);
        if (this.open.has(index)) return "";
        this.growing = index === this.blocks ? `{"type":"content_block_delta","index":${index},` : "";
        this.open.set(index, this.blocks++);
        return this.placed(event, data, index);
      }
      case "content_block_stop": {
        const index = Number(read(data)["index"]);
        const text = this.open.has(index) ? this.placed(event, data, index) : "";
        this.open.delete(index);
        this.growing = "";
        return text;
      }
      case "message_delta":
        this.note(data);
        return "";
      case "message_stop":
        return "";
      default:
        return NAME.test(event) ? this.print(event, data) : "";
    }
  }

  /** Ends blocks that have begun and not ended. */
  closed(): string {
    const left = [...this.open.values()];
    this.open.clear();
    const stop = (index: number) =>
      this.print("content_block_stop", `{"type":"content_block_stop","index":${index}}`);
    return left.map(stop).join("");
  }

  private grown(data: string, index: number): string {
    if (this.open.has(index)) return this.placed("content_block_delta", data, index);
    const { delta } = read(data);
    const block = BEGUN_BY[String(isJsonObject(delta) ? delta["type"] : "")];
    if (block === undefined) return "";
    const start = wireJson({ type: "content_block_start", index, content_block: block });
    return this.shown("content_block_start", start) + this.placed("content_block_delta", data, index);
  }

  /** As it came, under our index. */
  private placed(event: string, data: string, index: number): string {
    const own = this.open.get(index);
    return this.print(event, own === index ? data : wireJson({ ...read(data), index: own }));
  }

  /** It may be told in pieces: what comes later stands, what was told before stays. */
  private note(data: string): void {
    this.lastCharacters += data.length;
    if (this.lastCharacters > LAST_CHARACTERS_MAX)
      throw new Error("the end of the message was told without end");
    const told = read(data);
    const merged = (name: "delta" | "usage"): JsonObject => ({
      ...objectOf(this.last?.[name]),
      ...objectOf(told[name]),
    });
    this.last = { ...this.last, ...told, delta: merged("delta"), usage: merged("usage") };
  }
}

const objectOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

/** The reader of the upstream has read it before: it is an object. What it says to a tool is printed as it was said. */
const read = (data: string): JsonObject => withExact(data, objectOf(JSON.parse(data)), ["input"]);
