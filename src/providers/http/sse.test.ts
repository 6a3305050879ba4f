import { expect, test } from "bun:test";
import { EVENT_CHARACTERS_MAX, EVENT_LINES_MAX, SseEvents } from "./sse.ts";
import { Failure } from "../failure.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function eventsOf(text: string, pieceBytes = Number.MAX_SAFE_INTEGER): string[] {
  const all = bytes(text);
  const lines = new SseEvents();
  const events: string[] = [];
  for (let at = 0; at < all.length; at += pieceBytes)
    events.push(...lines.push(all.subarray(at, at + pieceBytes)));
  return events;
}

const SAMPLES: [string, string, string[]][] = [
  ["LF", "data: a\n\ndata: b\n\n", ["a", "b"]],
  ["CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]],
  ["CR", "data: a\r\rdata: b\r\r", ["a", "b"]],
  ["all line ends mixed", "data: a\r\n\ndata: b\r\r\ndata: c\n\r", ["a", "b", "c"]],
  ["a byte order mark", "\uFEFFdata: a\n\n", ["a"]],
  ["several data lines", "data: a\ndata: b\ndata:\ndata: c\n\n", ["a\nb\n\nc"]],
  ["comments and other fields", ": ping\n\nevent: x\nid: 1\nretry: 3\ndatabase: no\ndata: a\n\n", ["a"]],
  ["a colon without a blank, and two blanks", "data:a\n\ndata:  b\n\n", ["a", " b"]],
  ["data without a colon", "data\n\n", [""]],
  [
    "characters of four bytes and line separators",
    "data: \u{1F600}ü\u2028\u0085x\n\n",
    ["\u{1F600}ü\u2028\u0085x"],
  ],
  ["an event that does not end", "data: a\n\ndata: b\n", ["a"]],
];

for (const [what, text, expected] of SAMPLES) {
  test(`reads ${what} the same wherever the bytes are cut`, () => {
    for (const pieceBytes of [1, 2, 3, 5, 7, 1000]) expect(eventsOf(text, pieceBytes)).toEqual(expected);
  });
}

test("an event that lacks its blank line is given out at the end where it is whole, and no half of one", () => {
  const rest = (text: string): string[] => {
    const lines = new SseEvents();
    lines.push(bytes(text));
    return lines.rest();
  };
  for (const whole of ['data: {"a":1}', 'data: {"a":1}\n', 'data: {"a":1}\r', 'data: {"a":1}\r\n'])
    expect(rest(`data: {}\n\n${whole}`)).toEqual(['{"a":1}']);
  expect([rest("data: [DONE]"), rest(""), rest("data: {}\n\n"), rest(": ping")]).toEqual([
    ["[DONE]"],
    [],
    [],
    [],
  ]);
  expect([rest('data: {"a":'), rest("da"), rest("data: ")]).toEqual([[], [], []]);
});

test("an event without end fails instead of growing, also when it has many lines", () => {
  const long = "x".repeat(1024 * 1024);
  const oneLine = new SseEvents();
  expect(() => {
    for (let size = 0; size <= EVENT_CHARACTERS_MAX; size += long.length) oneLine.push(bytes(long));
  }).toThrow(Failure);
  const manyLines = new SseEvents();
  expect(() => {
    for (let size = 0; size <= EVENT_CHARACTERS_MAX; size += long.length)
      manyLines.push(bytes(`data: ${long}\n`));
    manyLines.push(bytes("data: x"));
  }).toThrow(Failure);
});

test("many long events in sequence do not count together", () => {
  const lines = new SseEvents();
  const event = bytes(`data: ${"x".repeat(1024 * 1024)}\n\n`);
  for (let n = 0; n < 12; n++) expect(lines.push(event)).toHaveLength(1);
});

/** What an upstream could repeat forever without ending an event. */
const ENDLESS: [string, string][] = [
  ["empty data lines", "data:\n"],
  ["empty data lines that end with CR", "data:\r"],
  ["empty data lines that end with CRLF", "data:\r\n"],
  ["data lines of one character", "data: x\n"],
  ["comments", ": still here\n"],
  ["names of events", "event: message\n"],
  ["ids", "id: 7\n"],
  ["fields that nobody knows", "x\n"],
  ["one line", "data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"],
  ["one comment", ": xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"],
];

test.each(ENDLESS)("%s without a blank line fail after so many lines or characters", (_, unit) => {
  const lines = new SseEvents();
  const block = bytes(unit.repeat(1000));
  const most = 2 + Math.max(EVENT_LINES_MAX / 1000, EVENT_CHARACTERS_MAX / block.byteLength);
  expect(() => {
    for (let n = 0; n < most; n += 1) lines.push(block);
  }).toThrow(Failure);
});

test("an event of as many lines as one may have is read", () => {
  const text = `${"data: x\n".repeat(EVENT_LINES_MAX - 1)}\n`;
  expect(eventsOf(text)[0]).toHaveLength(2 * (EVENT_LINES_MAX - 1) - 1);
});
