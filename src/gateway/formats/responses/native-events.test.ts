// The events of an upstream of this very shape go on as they come; where it is cut, what it opened is closed in its place.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { readResponseStream, responseSchema } from "../../../../test/support/response-schema.ts";
import { Refusal } from "../../../domain/refusals.ts";
import { NativeReader } from "../../../providers/native.ts";
import { ResponsesReader } from "../../../providers/openai/responses/responses-reader.ts";
import type { FinishReason, Part } from "../../../providers/provider.ts";
import type { ShownPart } from "../format.ts";
import {
  anything,
  figures,
  GATEWAY,
  HEAD,
  printerOf,
  reasons,
  printedStream,
} from "./response-events.fixtures.ts";

/** The data of each event. */
const dataIn = (raw: string): string[] =>
  raw.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice("data: ".length)] : []));

const shown = (parts: readonly Part[]): ShownPart[] =>
  parts.filter((part): part is ShownPart => part.type !== "usage" && part.type !== "finish");

/** As the line hands them over. */
function relayed(data: readonly string[], end: FinishReason | Refusal, numbered = false): string {
  const reader = new NativeReader(new ResponsesReader("issuer"));
  const parts: Part[] = [];
  for (const one of data) reader.event(one, parts);
  const stream = printerOf().stream(HEAD, numbered);
  let raw = stream.begin(GATEWAY);
  for (const part of shown(parts)) raw += stream.part(part);
  return raw + (end instanceof Refusal ? stream.error(end, GATEWAY) : stream.end(0, end, figures));
}

const lost = new Refusal("provider_error", "Lost.");

test("whatever it says comes as it was said, but for our names, our figures and marks on what it sealed", () => {
  fc.assert(
    fc.property(anything, reasons, fc.boolean(), (parts, reason, numbered) => {
      const theirs = dataIn(printedStream(parts, false, reason));
      const upstream = theirs.map((one) =>
        one
          .replace(`"id":"resp_${"a".repeat(32)}"`, '"id":"resp_theirs"')
          .replaceAll('"model":"m"', '"model":"their"'),
      );
      const raw = relayed(upstream, reason, numbered);
      readResponseStream(raw);
      const unmarked = dataIn(raw).map((one) => one.replaceAll("tollgate.sealed.issuer.", ""));
      expect(unmarked.map((one) => JSON.parse(one) as object)).toEqual(
        theirs.map((one) => JSON.parse(one) as object),
      );
    }),
    { numRuns: 150 },
  );
});

test("cut anywhere, at its maximum or by a failure, it is whole for a strict client", () => {
  fc.assert(
    fc.property(anything, fc.nat(), fc.boolean(), (parts, at, fails) => {
      const theirs = dataIn(printedStream(parts, false, "stop"));
      const { final } = readResponseStream(
        relayed(theirs.slice(0, at % theirs.length), fails ? lost : "length"),
      );
      expect([final.status, final.id, final.model]).toEqual([
        fails ? "failed" : "incomplete",
        `resp_${"a".repeat(32)}`,
        "m",
      ]);
      expect(final.usage?.total_tokens ?? 7).toBe(7);
    }),
    { numRuns: 150 },
  );
});

const HELLO = dataIn(printedStream([{ type: "text", choice: 0, text: "Hello" }], false, "stop"));

test("an upstream that counts by itself, or not at all, that says things twice, or begins in the middle, is put right", () => {
  const odd = [
    HELLO.map((one) =>
      one.replace(/"sequence_number":(\d+)/, (_, n: string) => `"sequence_number":${Number(n) + 5}`),
    ),
    HELLO.map((one) => one.replace(/"sequence_number":\d+,/, "")),
    HELLO.map((one) => one.replace(/"sequence_number":\d+/, '"sequence_number" : -1')),
    HELLO.flatMap((one) => (one.includes(".delta") ? [one] : [one, one])),
    HELLO.slice(1),
    HELLO.slice(2),
    [
      ...HELLO.slice(0, 2),
      `{"type":"response.queued","response":{"status":"queued"}}`,
      ...HELLO.slice(2),
    ].filter((one) => !one.includes("queued")),
  ];
  for (const theirs of odd) {
    const { final } = readResponseStream(relayed(theirs, "stop"));
    expect([final.status, final.output.length]).toEqual(["completed", 1]);
  }
});

test("an event that comes twice is passed on once; who does not count may say the same word twice", () => {
  const twice = HELLO.flatMap((one) => [one, one]);
  expect(relayed(twice, "stop")).toBe(relayed(HELLO, "stop"));
  const uncounted = HELLO.map((one) => one.replace(/"sequence_number":\d+,/, ""));
  const again = uncounted.flatMap((one) => (one.includes("text.delta") ? [one, one] : [one]));
  expect(relayed(again, "stop").split(`"delta":"Hello"`)).toHaveLength(3);
});

test("what would end a line of ours does not, and a name that is none is not printed", () => {
  const names = `{"type":"response.new\\nid: 9","delta":"x"}`;
  const ends = HELLO.map((one) => one.replace("Hello", "He\u2028llo"));
  const raw = relayed([...ends.slice(0, 5), names, ...ends.slice(5)], "stop");
  expect(raw).not.toContain("\u2028");
  expect(raw).not.toContain("id: 9");
  readResponseStream(raw);
});

test("a whole body is the vendor's own, with our names and figures; nothing of its costs is shown", () => {
  const [last = ""] = HELLO.slice(-1);
  const { response } = JSON.parse(last) as { response: object };
  const theirs = {
    ...response,
    id: "resp_theirs",
    model: "upstream",
    usage: { cost: 1 },
    gateway: { secret: 1 },
  };
  const native = JSON.stringify({ ...theirs, metadata: {}, prompt_cache_key: "hash" });
  const body = printerOf().answer(HEAD, { choices: [], usage: null, upstreamId: null, native }, figures);
  expect(responseSchema.parse(JSON.parse(body))).toMatchObject({
    id: `resp_${"a".repeat(32)}`,
    model: "m",
    metadata: { a: "b" },
    prompt_cache_key: "mine",
    usage: { total_tokens: 7 },
    gateway: { public_model: "m" },
  });
  expect(body).not.toContain("cost");
  expect(body).not.toContain("secret");
});
