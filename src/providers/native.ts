// An answer to a native body: beside the parts of each event, the event itself, so that it can be passed on as it
// came (surfaces.md §4). Money, counts and failures depend on the parts alone. An event without parts waits for the
// first event that has some.
import { exactObject } from "../domain/exact-json.ts";
import type { JsonObject } from "../domain/read-value.ts";
import type { AnswerReader, EventEnd } from "./codec.ts";
import { Failure } from "./failure.ts";
import type { Part } from "./provider.ts";

type NativePart = Extract<Part, { type: "native" }>;

/** The bound on events without parts before the first event with parts. */
const WAITING_CHARACTERS_MAX = 4 * 1024 * 1024;

/** `inner` reads the same events for money and failures. */
export class NativeReader implements AnswerReader<string> {
  /** Events before the first word. Until then nothing was delivered, and another route may be tried. */
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

  /** Uses the event as its reader parsed it, so what is printed and what is counted cannot differ. */
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
      throw new Failure("broken", "unknown", "the upstream sent many events without content");
    this.waiting.push(part);
  }
}

/** An event may have come on several lines; it is printed on one. */
const oneLine = (data: string, told: JsonObject): string =>
  /[\r\n]/.test(data) ? JSON.stringify(exactObject(data, told)) : data;
