// Server-sent events from bytes: each network read is decoded once and gives the data of the events that it completed.
// Bounded: an event that never ends is a broken upstream, not a growing buffer (money.md §12, fault 52).
import { Failure } from "./failure.ts";

/** One event may hold at most this many characters. */
export const EVENT_CHARACTERS_MAX = 8 * 1024 * 1024;

const LF = 10;
const COLON = 58;
const SPACE = 32;

/** Splits bytes into the `data` of complete events; lines end with LF, CRLF or CR; a leading BOM is skipped. */
export class EventLines {
  private readonly decoder = new TextDecoder();
  /** The line that has not ended yet. Only new text is searched, so long lines in small pieces stay linear. */
  private partial = "";
  private data: string | null = null;
  /** Characters of `data` and `partial`. */
  private size = 0;
  /** The last text ended with CR: an LF that follows belongs to it. */
  private afterReturn = false;

  /** The data of every event that ended in these bytes. Throws `Failure` for an event without end. */
  push(bytes: Uint8Array): string[] {
    const text = this.decoder.decode(bytes, { stream: true });
    const events: string[] = [];
    if (text === "") return events;
    let start = this.afterReturn && text.charCodeAt(0) === LF ? 1 : 0;
    this.afterReturn = false;
    let feed = text.indexOf("\n", start);
    let carriage = text.indexOf("\r", start);
    while (feed !== -1 || carriage !== -1) {
      const atFeed = carriage === -1 || (feed !== -1 && feed < carriage);
      const end = atFeed ? feed : carriage;
      this.endLine(text, { start, end }, events);
      start = end + 1;
      if (!atFeed) {
        if (feed === start) start += 1;
        else this.afterReturn = start === text.length;
        carriage = text.indexOf("\r", start);
      }
      if (feed !== -1 && feed < start) feed = text.indexOf("\n", start);
    }
    if (start < text.length) this.keep(text.slice(start));
    return events;
  }

  private keep(text: string): void {
    this.partial += text;
    this.size += text.length;
    if (this.size > EVENT_CHARACTERS_MAX)
      throw new Failure("broken", "unknown", "the upstream sent an event without end");
  }

  private endLine(text: string, { start, end }: { start: number; end: number }, events: string[]): void {
    if (this.partial === "") {
      this.line(text, { start, end }, events);
      return;
    }
    const line = this.partial + text.slice(start, end);
    this.size -= this.partial.length;
    this.partial = "";
    this.line(line, { start: 0, end: line.length }, events);
  }

  private line(text: string, { start, end }: { start: number; end: number }, events: string[]): void {
    if (start === end) {
      if (this.data !== null) events.push(this.data);
      this.data = null;
      this.size = 0;
      return;
    }
    if (!text.startsWith("data", start)) return; // comments, `event`, `id`, `retry`
    const colon = start + 4;
    if (colon < end && text.charCodeAt(colon) !== COLON) return; // a longer name
    const from = text.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1;
    const value = from < end ? text.slice(from, end) : "";
    this.data = this.data === null ? value : `${this.data}\n${value}`;
    this.size += value.length;
  }
}
