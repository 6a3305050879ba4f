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
    const part: NativePart = {
      type: "native",
      choice: 0,
      event: typeOf(data),
      data: oneLine(this.inner.passOn?.(data) ?? data),
    };
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

  private wait(part: NativePart): void {
    this.waitingCharacters += part.data.length;
    if (this.waitingCharacters > WAITING_CHARACTERS_MAX)
      throw new Failure("broken", "unknown", "the upstream sent many events and said nothing");
    this.waiting.push(part);
  }
}

const TYPE_FIRST = /^\{\s*"type"\s*:\s*"([a-z_.]+)"/;

/** The event's own word for what it is; "" where it has none. */
function typeOf(data: string): string {
  const first = TYPE_FIRST.exec(data)?.[1];
  if (first !== undefined) return first;
  const { type } = JSON.parse(data) as { type?: unknown };
  return typeof type === "string" ? type : "";
}

/** An event may have come on several lines; what is printed is one. */
const oneLine = (data: string): string =>
  /[\r\n]/.test(data) ? JSON.stringify(exactObject(data, JSON.parse(data) as JsonObject)) : data;
