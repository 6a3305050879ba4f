// An answer to a native body: beside what each event says, the event itself, so that it can go on as it came (surfaces.md
// §4). Money, counts and failures see the parts alone; an event that says nothing yet waits for the first that does.
import { exactObject } from "../domain/exact-json.ts";
import type { JsonObject } from "../domain/read-value.ts";
import type { AnswerReader, EventEnd } from "./codec.ts";
import { Failure } from "./failure.ts";
import type { Part } from "./provider.ts";

type NativePart = Extract<Part, { type: "native" }>;

/** Of events that say nothing, before the first that does. */
const WAITING_CHARACTERS_MAX = 4 * 1024 * 1024;

/** `inner` reads the same events for money and failures. */
export class NativeReader implements AnswerReader<string> {
  /** Events before the first word: until then nothing was delivered, and another route may be tried. */
  private waiting: NativePart[] = [];
  private waitingCharacters = 0;
  private spoke = false;

  constructor(private readonly inner: AnswerReader<string>) {}

  get id(): string | null {
    return this.inner.id;
  }

  get began(): boolean {
    return this.inner.began;
  }

  get complete(): boolean {
    return this.inner.complete;
  }

  get usageTold(): boolean {
    return this.inner.usageTold;
  }

  event(data: string, parts: Part[]): EventEnd {
    const before = parts.length;
    const end = this.inner.event(data, parts);
    if (data === "" || data.startsWith("[DONE]") || (end !== null && end !== "done")) return end;
    const part = this.part(data);
    if (this.spoke) {
      parts.splice(before, 0, part);
      return end;
    }
    this.wait(part);
    if (parts.some(({ type }) => type !== "usage")) {
      parts.splice(before, 0, ...this.waiting);
      this.spoke = true;
      this.waiting = [];
    }
    return end;
  }

  whole(text: string, parts: Part[]): void {
    this.inner.whole(text, parts);
  }

  close(parts: Part[]): void {
    parts.push(...this.waiting);
    this.waiting = [];
    this.inner.close(parts);
  }

  /** Read once, by its reader: who prints it and who counts it cannot hear two different things. */
  private part(data: string): NativePart {
    const { inner } = this;
    const text = inner.passOn?.(data) ?? data;
    const told = text === data ? (inner.lastEvent ?? {}) : (JSON.parse(text) as JsonObject);
    const event = typeof told["type"] === "string" ? told["type"] : "";
    return { type: "native", choice: 0, event, data: oneLine(text, told), told };
  }

  private wait(part: NativePart): void {
    this.waitingCharacters += part.data.length;
    if (this.waitingCharacters > WAITING_CHARACTERS_MAX)
      throw new Failure("broken", "unknown", "the upstream sent many events and said nothing");
    this.waiting.push(part);
  }
}

/** An event may have come on several lines; what is printed is one. */
const oneLine = (data: string, told: JsonObject): string =>
  /[\r\n]/.test(data) ? JSON.stringify(exactObject(data, told)) : data;
