// A stream of an upstream of this very shape: the few events that are read before they are passed on, or that wait.
import { isJsonObject, isPresent, type JsonObject } from "../../../domain/read-value.ts";
import { wireJson } from "../../../domain/wire-json.ts";
import type { NativeEvent } from "../../../providers/provider.ts";
import { NamedCalls } from "./named-calls.ts";

/** A name that cannot end its line. */
const NAME = /^[a-z_.]{1,64}$/;

const MESSAGE = { type: "message", role: "assistant" };
const BEGUN = { ...MESSAGE, content: [], stop_reason: null, stop_sequence: null };

/** The kind of a block that grows without a start event. */
const BEGUN_BY: Record<string, object> = {
  text_delta: { type: "text", text: "" },
  thinking_delta: { type: "thinking", thinking: "", signature: "" },
};

/** The bound on everything reported about its end: the maximum size of one event. */
const LAST_CHARACTERS_MAX = 8 * 1024 * 1024;

/** One stream; bounded in what it keeps, whatever the upstream sends. */
export class NativeEvents {
  /** Its last event, which waits for our figures. */
  last: JsonObject | null = null;
  /** Every reason that it told for its end: upstreams may contradict themselves. */
  readonly stopReasons: string[] = [];
  /** Open blocks: our index by the upstream's, the same unless the upstream counts oddly. */
  private readonly open = new Map<number, number>();
  private lastCharacters = 0;
  private blocks = 0;

  private readonly calls: NamedCalls;

  /** `requestId`: the source of ids that the upstream left out. */
  constructor(
    requestId: string,
    private readonly print: (event: string, data: string) => string,
  ) {
    this.calls = new NamedCalls(requestId);
  }

  /** The first event with our names and the receipt without cost. */
  start(
    { message }: JsonObject,
    { gateway, ...ours }: { id: string; model: string; gateway: string },
  ): string {
    const { gateway: _none, ...told } = isJsonObject(message) ? message : {};
    const content = Array.isArray(told["content"]) ? (told["content"] as unknown[]) : [];
    const whole = { ...BEGUN, ...told, ...MESSAGE, content, usage: countsOf(told["usage"]), ...ours };
    return `{"type":"message_start","message":${wireJson(whole).slice(0, -1)},"gateway":${gateway}}}`;
  }

  /** The part of an event to send now, printed; the last events wait, and those that no client could place are dropped. */
  shown(native: NativeEvent): string {
    const { event, data, told } = native;
    switch (event) {
      case "content_block_delta":
        return this.open.has(placeOf(told)) ? this.placed(native) : this.begunBy(native);
      case "content_block_start":
        if (this.open.has(placeOf(told))) return "";
        this.open.set(placeOf(told), this.blocks++);
        return this.placed(this.named(native));
      case "content_block_stop": {
        const text = this.open.has(placeOf(told)) ? this.placed(native) : "";
        this.open.delete(placeOf(told));
        return text;
      }
      case "message_delta":
        this.note(native);
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

  /** Opens a block that grows without a start event. */
  private begunBy(native: NativeEvent): string {
    const { delta } = native.told;
    const block = BEGUN_BY[String(isJsonObject(delta) ? delta["type"] : "")];
    if (block === undefined) return "";
    const index = this.blocks++;
    this.open.set(placeOf(native.told), index);
    const start = wireJson({ type: "content_block_start", index, content_block: block });
    return this.print("content_block_start", start) + this.placed(native);
  }

  /** A block that begins, with an id by which its call can be answered. */
  private named(native: NativeEvent): NativeEvent {
    const { content_block: block } = native.told;
    if (!isJsonObject(block)) return native;
    const named = this.calls.named(block);
    if (named === block) return native;
    const told = { ...native.told, content_block: named };
    return { ...native, told, data: wireJson(told) };
  }

  /** The event as it came, under our index. */
  private placed({ event, data, told }: NativeEvent): string {
    const index = this.open.get(placeOf(told));
    return this.print(event, told["index"] === index ? data : wireJson({ ...told, index }));
  }

  /** The end may be reported in several events: later members replace earlier ones, others stay. */
  private note({ data, told }: NativeEvent): void {
    this.lastCharacters += data.length;
    if (this.lastCharacters > LAST_CHARACTERS_MAX)
      throw new Error("the upstream sent too many events for the end of the message");
    const merged = (name: "delta" | "usage"): JsonObject => ({
      ...objectOf(this.last?.[name]),
      ...objectOf(told[name]),
    });
    const { delta } = told;
    if (isJsonObject(delta) && typeof delta["stop_reason"] === "string")
      this.stopReasons.push(delta["stop_reason"]);
    this.last = { ...this.last, ...told, delta: merged("delta"), usage: merged("usage") };
  }
}

/** The figures that clients read in the usage at the start of a message. */
const COUNTS = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: null,
  cache_read_input_tokens: null,
};

/** The usage as reported, without invalid figures; the last event has ours. */
function countsOf(told: unknown): JsonObject {
  const usage = { ...objectOf(told) };
  for (const [name, unknown] of Object.entries(COUNTS))
    if (!isCount(usage[name]) && (unknown !== null || isPresent(usage[name]))) usage[name] = unknown;
  return usage;
}

const isCount = (value: unknown): boolean =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

const objectOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

/** The same default index that the reader of the upstream uses. */
const placeOf = ({ index }: JsonObject): number => (typeof index === "number" ? index : 0);
