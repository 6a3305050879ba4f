// Server-sent events from bytes, pull-based: each network read gives the data of the events that it completed. Bounded:
// an event that never ends is a broken upstream, not a growing buffer (hardening.md, money.md §12 fault 52).
import { Failure } from "./failure.ts";

/** One event may hold at most this many characters. */
const EVENT_CHARACTERS_MAX = 8 * 1024 * 1024;

/** Splits chunks of text into the `data` of complete events; lines end with LF, CRLF or CR. */
export class EventLines {
  private rest = "";
  private data: string | null = null;
  private size = 0;
  /** The last chunk ended with CR: an LF that follows belongs to it. */
  private afterReturn = false;

  /** The data of every event that ended in this text. Throws `Failure` for an event without end. */
  push(chunk: string): string[] {
    const events: string[] = [];
    let text = this.rest + chunk;
    if (this.afterReturn && text.startsWith("\n")) text = text.slice(1);
    this.afterReturn = false;
    let start = 0;
    for (;;) {
      const end = lineEnd(text, start);
      if (end === -1) break;
      this.line(text.slice(start, end), events);
      start = end + 1;
      if (text.charCodeAt(end) !== 13) continue;
      if (start === text.length) this.afterReturn = true;
      else if (text.charCodeAt(start) === 10) start += 1;
    }
    this.rest = text.slice(start);
    if (this.rest.length + this.size > EVENT_CHARACTERS_MAX)
      throw new Failure("broken", "unknown", "the upstream sent an event without end");
    return events;
  }

  private line(line: string, events: string[]): void {
    if (line === "") {
      if (this.data !== null) events.push(this.data);
      this.data = null;
      this.size = 0;
      return;
    }
    if (!line.startsWith("data")) return; // comments, `event`, `id`, `retry`
    if (line.length > 4 && line.charCodeAt(4) !== 58) return;
    const value = line.charCodeAt(5) === 32 ? line.slice(6) : line.slice(5);
    this.data = this.data === null ? value : `${this.data}\n${value}`;
    this.size += value.length;
  }
}

function lineEnd(text: string, from: number): number {
  const feed = text.indexOf("\n", from);
  const carriage = text.indexOf("\r", from);
  if (carriage === -1) return feed;
  return feed === -1 ? carriage : Math.min(feed, carriage);
}
