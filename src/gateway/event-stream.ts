// Server-sent events as every format prints them: keyed streams number their events, so that a reader who lost one goes on
// after it (money.md §8.6). The number stands first in its event, and data lines hold no raw line ends.
export const EVENT_STREAM = "text/event-stream; charset=utf-8";

/** Not an event: never numbered, never kept. */
export const KEEP_ALIVE = ": keep-alive\n\n";

/** What ends a stream of OpenAI's older surfaces; not numbered. */
export const DONE_EVENT = "data: [DONE]\n\n";

/** One event of a stream that is not named. */
export const printEvent = (data: string, number: number | null): string =>
  number === null ? `data: ${data}\n\n` : `id: ${number}\ndata: ${data}\n\n`;

/** One that is. */
export const printNamedEvent = (name: string, data: string, number: number | null): string =>
  number === null ? `event: ${name}\ndata: ${data}\n\n` : `id: ${number}\nevent: ${name}\ndata: ${data}\n\n`;

/**
 * What a stored stream has for a reader that lost it after this event. Its reader may have seen as much or more, where a
 * crash cut the stream behind what was kept: it still learns how the stream ended.
 */
export function storedAfter(text: string, lastEventId: string | null): string {
  const last = text.slice(text.lastIndexOf("\n\nid: ") + 2);
  const ended = Number.parseInt(last.slice("id: ".length), 10);
  if (lastEventId !== null && Number(lastEventId) > ended) return last;
  return afterEvent(text, lastEventId) || last;
}

/** The number of the last whole event; 0 when there is none. */
export function lastEventOf(text: string): number {
  const at = text.lastIndexOf("\n\nid: ");
  return Number.parseInt(at === -1 ? text.slice("id: ".length) : text.slice(at + "\n\nid: ".length), 10) || 0;
}

/** What follows the event with this number; the whole text when it is not in it. Data lines hold no raw line ends. */
export function afterEvent(text: string, lastEventId: string | null): string {
  if (lastEventId === null || !/^[1-9]\d{0,9}$/.test(lastEventId)) return text;
  const mark = `id: ${lastEventId}\n`;
  const at = text.startsWith(mark) ? 0 : text.indexOf(`\n\n${mark}`);
  if (at === -1) return text;
  return text.slice(text.indexOf("\n\n", at + 2) + 2);
}
