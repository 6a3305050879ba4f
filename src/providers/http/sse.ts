// Server-sent events from bytes: each network read is decoded once and yields the data of the events that it
// completed. Bounded: an event that never ends is a broken upstream, not a growing buffer (money.md §12, fault 52).
import type { Framing } from "../codec.ts";
import { Failure } from "../failure.ts";
import { readJson } from "./json.ts";

/** The maximum number of characters in one event, whatever its lines are. */
export const EVENT_CHARACTERS_MAX = 8 * 1024 * 1024;
/** The maximum number of lines in one event. */
export const EVENT_LINES_MAX = 65_536;

const GOES_ON = { stream: true };
const LF = 10;
const COLON = 58;
const SPACE = 32;

/** Splits bytes into the `data` of complete events; lines end with LF, CRLF or CR; a leading BOM is skipped. */
export class SseEvents implements Framing<string> {
  private readonly decoder = new TextDecoder();
  /** The line that has not ended yet. Only new text is searched, so long lines in small pieces stay linear. */
  private partial = "";
  private data: string | null = null;
  /** Characters and lines since the last blank line: comments and ignored fields count like data. */
  private size = 0;
  private lines = 0;
  private failure: Failure | null = null;
  /** The last text ended with CR; a following LF belongs to it. */
  private afterReturn = false;

  /**
   * Returns the data of every event that ended in these bytes. Throws `Failure` for an event without end; events that
   * ended before it in the same bytes are returned first.
   */
  push(bytes: Uint8Array): string[] {
    const events: string[] = [];
    try {
      if (this.failure !== null) throw this.failure;
      this.split(this.decoder.decode(bytes, GOES_ON), events);
    } catch (error) {
      if (!(error instanceof Failure) || events.length === 0) throw error;
      this.failure = error;
    }
    return events;
  }

  /** Some upstreams close the connection right after the last line, which may be the usage, or the terminator. */
  rest(): string[] {
    const events: string[] = [];
    if (this.failure === null) this.split("\n\n", events);
    return events.filter((data) => data.startsWith("[DONE]") || readJson(data) !== undefined);
  }

  private split(text: string, events: string[]): void {
    if (text === "") return;
    let start = this.afterReturn && text.charCodeAt(0) === LF ? 1 : 0;
    this.afterReturn = false;
    let feed = text.indexOf("\n", start);
    let carriage = text.indexOf("\r", start);
    while (feed !== -1 || carriage !== -1) {
      const atFeed = carriage === -1 || (feed !== -1 && feed < carriage);
      const end = atFeed ? feed : carriage;
      this.endLine(text, start, end, events);
      start = end + 1;
      if (!atFeed) {
        if (feed === start) start += 1;
        else this.afterReturn = start === text.length;
        carriage = text.indexOf("\r", start);
      }
      if (feed !== -1 && feed < start) feed = text.indexOf("\n", start);
    }
    if (start < text.length) {
      this.partial += text.slice(start);
      this.grow(text.length - start);
    }
  }

  private grow(characters: number): void {
    this.size += characters;
    if (this.size > EVENT_CHARACTERS_MAX || this.lines > EVENT_LINES_MAX)
      throw new Failure("broken", "unknown", "the upstream sent an event that does not end");
  }

  private endLine(text: string, start: number, end: number, events: string[]): void {
    this.lines += 1;
    this.grow(end + 1 - start);
    if (this.partial === "") {
      this.line(text, start, end, events);
      return;
    }
    const line = this.partial + text.slice(start, end);
    this.partial = "";
    this.line(line, 0, line.length, events);
  }

  private line(text: string, start: number, end: number, events: string[]): void {
    if (start === end) {
      if (this.data !== null) events.push(this.data);
      this.data = null;
      this.size = 0;
      this.lines = 0;
      return;
    }
    if (!text.startsWith("data", start)) return; // comments, `event`, `id`, `retry`
    const colon = start + 4;
    if (colon < end && text.charCodeAt(colon) !== COLON) return; // a longer name
    const from = text.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1;
    const value = from < end ? text.slice(from, end) : "";
    this.data = this.data === null ? value : `${this.data}\n${value}`;
  }
}
