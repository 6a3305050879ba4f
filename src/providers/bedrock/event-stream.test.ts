import { describe, expect, test } from "bun:test";
import { cpuMs } from "../../../test/support/cpu.ts";
import { thrown } from "../http/http.fixtures.ts";
import { EVENT_CHARACTERS_MAX } from "../http/sse.ts";
import { eventFrame, exceptionFrame, message } from "../simulator/bedrock/frame.ts";
import { type BedrockEvent, BedrockEvents } from "./event-stream.ts";

const one = eventFrame("contentBlockDelta", { delta: { text: "ß€😀" } });
const two = eventFrame("messageStop", { stopReason: "end_turn" });
const read = (...pieces: Uint8Array[]): BedrockEvent[] => {
  const framing = new BedrockEvents();
  return pieces.flatMap((piece) => framing.push(piece));
};
const typesOf = (events: BedrockEvent[]): string[] => events.map(({ type }) => type);

/** Returns a copy with one byte inverted. */
function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(at) ^ 0xff, at);
  return copy;
}

/** Returns a copy with a wrong length of itself or of its headers, and a checksum that matches. */
function lying(bytes: Buffer, at: 0 | 4, length: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt32BE(length, at);
  copy.writeUInt32BE(Bun.hash.crc32(copy.subarray(0, 8)), 8);
  return copy;
}

test("AWS' own messages", () => {
  const empty = Buffer.from("000000100000000005c248eb7d98c8ff", "hex");
  const payload = Buffer.from("0000001d00000000fd528c5a7b27666f6f273a27626172277dc3653936", "hex");
  expect(read(empty, payload)).toEqual([
    { kind: "event", type: "", payload: "" },
    { kind: "event", type: "", payload: "{'foo':'bar'}" },
  ]);
  expect(message({}, "{'foo':'bar'}")).toEqual(payload);
});

test("events, exceptions and errors say what they are", () => {
  const failed = message(
    { ":message-type": "error", ":error-code": "Internal", ":error-message": "sorry" },
    "",
  );
  expect(read(one, exceptionFrame("throttlingException", { message: "slow" }), failed)).toEqual([
    { kind: "event", type: "contentBlockDelta", payload: '{"delta":{"text":"ß€😀"}}' },
    { kind: "exception", type: "throttlingException", payload: '{"message":"slow"}' },
    { kind: "error", type: "Internal", payload: "sorry" },
  ]);
});

test("a message is the same wherever it is cut, and nothing is lost between two", () => {
  const all = Buffer.concat([one, two, one]);
  const whole = read(all);
  expect(typesOf(whole)).toEqual(["contentBlockDelta", "messageStop", "contentBlockDelta"]);
  for (let at = 0; at <= all.length; at += 1)
    expect(read(all.subarray(0, at), all.subarray(at))).toEqual(whole);
  expect(read(...Array.from(all, (byte) => Buffer.from([byte])))).toEqual(whole);
});

test("headers of every type are passed over", () => {
  const name = (text: string, type: number, ...value: number[]): Buffer =>
    Buffer.concat([Buffer.from([text.length]), Buffer.from(text), Buffer.from([type, ...value])]);
  const headers = Buffer.concat([
    name("a", 0),
    name("b", 1),
    name("c", 2, 1),
    name("d", 3, 0, 1),
    name("e", 4, 0, 0, 0, 1),
    name("f", 5, 0, 0, 0, 0, 0, 0, 0, 1),
    name("g", 6, 0, 2, 9, 9),
    name("h", 8, 0, 0, 0, 0, 0, 0, 0, 1),
    name("i", 9, ...Buffer.alloc(16, 7)),
    name(":event-type", 7, 0, 1, 0x78),
  ]);
  const bytes = Buffer.alloc(12 + headers.length + 4);
  bytes.writeUInt32BE(bytes.length, 0);
  bytes.writeUInt32BE(headers.length, 4);
  bytes.writeUInt32BE(Bun.hash.crc32(bytes.subarray(0, 8)), 8);
  headers.copy(bytes, 12);
  bytes.writeUInt32BE(Bun.hash.crc32(bytes.subarray(0, -4)), bytes.length - 4);
  expect(typesOf(read(bytes))).toEqual(["x"]);
});

describe("what is no message is broken, and what stood before it is given out first", () => {
  test.each([
    ["a byte of the payload", flipped(one, one.length - 6)],
    ["a byte of the headers", flipped(one, 14)],
    ["the prelude's checksum", flipped(one, 9)],
    ["the length alone", flipped(one, 3)],
    ["an event of another shape", Buffer.from('data: {"choices":[]}\n\n')],
    ["headers beyond the message", lying(one, 4, one.length)],
    ["headers beyond any bound", lying(one, 4, 1_000_000)],
    ["a message that is shorter than its frame", lying(one, 0, 15)],
    ["a message beyond any bound", lying(one, 0, EVENT_CHARACTERS_MAX + 1)],
  ])("%s", (_, bytes) => {
    expect(thrown(() => read(bytes)).reason).toBe("broken");
    const framing = new BedrockEvents();
    expect(typesOf(framing.push(Buffer.concat([two, bytes])))).toEqual(["messageStop"]);
    expect(thrown(() => framing.push(one)).executed).toBe("unknown");
  });

  test("nobody waits for as many bytes as a damaged prelude says", () => {
    expect(read(one.subarray(0, 12))).toEqual([]);
    for (const at of [1, 5, 9]) {
      const begun = flipped(one.subarray(0, 12), at);
      expect(thrown(() => read(begun)).reason).toBe("broken");
    }
    const longer = Buffer.from(one);
    longer.writeUInt32BE(one.length + 1000, 0);
    expect(thrown(() => read(longer)).message).toContain("not a message of an event stream");
  });

  test("a header that ends nowhere", () => {
    const bytes = Buffer.from(one);
    bytes.writeUInt8(200, 12); // the first name is longer than all headers
    bytes.writeUInt32BE(Bun.hash.crc32(bytes.subarray(0, -4)), bytes.length - 4);
    expect(thrown(() => read(bytes)).reason).toBe("broken");
  });
});

test("a large event in small pieces is read in time", () => {
  const large = eventFrame("contentBlockDelta", { text: "x".repeat(4_000_000) });
  const framing = new BedrockEvents();
  const startedAtMs = cpuMs();
  const events: BedrockEvent[] = [];
  for (let at = 0; at < large.length; at += 64) events.push(...framing.push(large.subarray(at, at + 64)));
  expect(events).toHaveLength(1);
  expect(cpuMs() - startedAtMs).toBeLessThan(2000); // copying each time would take a minute
});
