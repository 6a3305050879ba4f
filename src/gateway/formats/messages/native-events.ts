// What an upstream of this very shape has told of its stream: the few events that are read before they go on, or wait.
import { isJsonObject, type JsonObject } from "../../../domain/read-value.ts";
import { wireJson } from "../../../domain/wire-json.ts";

/** A name that cannot end its line. */
const NAME = /^[a-z_.]{1,64}$/;

export class NativeEvents {
  /** Its last words, which wait for ours. */
  last: JsonObject | null = null;
  private readonly open = new Set<number>();

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

  /** Notes an event; false where it does not go on now, or not at all. */
  goesOn(event: string, data: string): boolean {
    switch (event) {
      case "content_block_delta":
        return true;
      case "content_block_start":
        return this.began(read(data)["index"]);
      case "content_block_stop":
        return this.open.delete(Number(read(data)["index"]));
      case "message_delta":
        this.note(read(data));
        return false;
      case "message_stop":
        return false;
      default:
        return NAME.test(event);
    }
  }

  /** Blocks that have begun and not ended, once. */
  takeOpen(): number[] {
    const left = [...this.open];
    this.open.clear();
    return left;
  }

  private began(index: unknown): boolean {
    if (typeof index !== "number" || this.open.has(index)) return false;
    this.open.add(index);
    return true;
  }

  /** It may be told in pieces: what comes later stands, what was told before stays. */
  private note(told: JsonObject): void {
    const merged = (name: "delta" | "usage"): JsonObject => ({
      ...objectOf(this.last?.[name]),
      ...objectOf(told[name]),
    });
    this.last = { ...this.last, ...told, delta: merged("delta"), usage: merged("usage") };
  }
}

const objectOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

/** The reader of the upstream has read it before: it is an object. */
const read = (data: string): JsonObject => objectOf(JSON.parse(data));
