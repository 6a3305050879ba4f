// Server-sent events as every format prints them. Keyed streams number their events, so that a reader who lost the stream resumes
// after the last one received (money.md §8.6). The number comes first in its event, and data lines contain no raw line ends.
export const EVENT_STREAM = "text/event-stream; charset=utf-8";

/** Not an event: never numbered, never stored. */
export const KEEP_ALIVE = ": keep-alive\n\n";

/** The end of a stream on OpenAI's older surfaces; not numbered. */
export const DONE_EVENT = "data: [DONE]\n\n";

/** An event without a name. */
export const printEvent = (data: string, number: number | null): string =>
  number === null ? `data: ${data}\n\n` : `id: ${number}\ndata: ${data}\n\n`;

/** An event with a name. */
export const printNamedEvent = (name: string, data: string, number: number | null): string =>
  number === null ? `event: ${name}\ndata: ${data}\n\n` : `id: ${number}\nevent: ${name}\ndata: ${data}\n\n`;

/**
 * The part of a stored stream for a reader that lost it after this event. The reader may have seen as much or more, if a crash cut
 * the stream after what was stored; it still learns how the stream ended.
 */
export function storedAfter(text: string, lastEventId: string | null): string {
  const last = text.slice(text.lastIndexOf("\n\nid: ") + 2);
  const ended = Number.parseInt(last.slice("id: ".length), 10);
  if (lastEventId !== null && Number(lastEventId) > ended) return last;
  return afterEvent(text, lastEventId) || last;
}

/** The number of the last complete event; 0 if there is none. */
export function lastEventOf(text: string): number {
  const at = text.lastIndexOf("\n\nid: ");
  return Number.parseInt(at === -1 ? text.slice("id: ".length) : text.slice(at + "\n\nid: ".length), 10) || 0;
}

/**
 * The text after the event with this number; the whole text if it does not contain the event. Data lines contain no raw line ends.
 */
export function afterEvent(text: string, lastEventId: string | null): string {
  if (lastEventId === null || !/^[1-9]\d{0,9}$/.test(lastEventId)) return text;
  const mark = `id: ${lastEventId}\n`;
  const at = text.startsWith(mark) ? 0 : text.indexOf(`\n\n${mark}`);
  if (at === -1) return text;
  return text.slice(text.indexOf("\n\n", at + 2) + 2);
}
