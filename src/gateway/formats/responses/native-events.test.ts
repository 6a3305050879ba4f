// The events of an upstream of this very shape are passed on as they come; if it is cut, what it opened is closed on its behalf.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { readResponseStream, responseSchema } from "../../../../test/support/response-schema.ts";
import { Refusal } from "../../../domain/refusals.ts";
import {
  anything,
  dataIn,
  figures,
  HEAD,
  printerOf,
  printedStream,
  reasons,
  relayed,
} from "./response-events.fixtures.ts";

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
      expect(raw.split(`"encrypted_content":"tollgate.sealed.issuer.`).length).toBe(
        theirs.join("").split(`"encrypted_content":"`).length,
      );
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
    const raw = relayed(theirs, "stop");
    const { events, final } = readResponseStream(raw);
    expect([final.status, final.output.length]).toEqual(["completed", 1]);
    expect(raw.split(`"sequence_number"`)).toHaveLength(events.length + 1);
  }
});

const uncounted = HELLO.map((one) => one.replace(/"sequence_number":\d+,/, ""));

test("who does not count may open and close twice, or close nothing: each is opened and closed once", () => {
  const again = uncounted.flatMap((one) => (one.includes("_text.") ? [one] : [one, one]));
  const late = uncounted.flatMap((one) => {
    const part = uncounted.find((other) => other.includes("content_part.added")) ?? "";
    return one.includes("output_item.done")
      ? [one, part.replace(`"content_index":0`, `"content_index":1`)]
      : [one];
  });
  const open = uncounted.filter((one) => !one.includes(`.done"`));
  for (const theirs of [again, late, open]) {
    const { events, final } = readResponseStream(relayed(theirs, "stop"));
    expect(events.map(({ type }) => type as string)).toEqual(
      HELLO.map((one) => (JSON.parse(one) as Event).type),
    );
    expect(final.output).toMatchObject([{ status: "completed", content: [{ text: "Hello" }] }]);
  }
});

test("an answer whose end was told, but not settled, has failed", () => {
  const { final } = readResponseStream(relayed(HELLO, lost));
  expect([final.status, final.error?.code as string]).toEqual(["failed", "provider_error"]);
});

/** Data of the events of a stream that is cut, including members that no schema of ours has. */
const cutJson = (theirs: readonly object[]): Event[] =>
  dataIn(
    relayed(
      theirs.map((one) => JSON.stringify(one)),
      "length",
    ),
  ).map((one) => JSON.parse(one) as Event);

interface Event {
  type: string;
  response?: { output: object[] };
}

test("a thought that is told in words beside its summary is closed with both, each in its place", () => {
  const at = { item_id: "rs_1", output_index: 0 };
  const added = { type: "response.output_item.added", output_index: 0 };
  const events = cutJson([
    { ...added, item: { id: "rs_1", type: "reasoning", summary: [], content: [] } },
    {
      type: "response.content_part.added",
      ...at,
      content_index: 0,
      part: { type: "reasoning_text", text: "" },
    },
    { type: "response.reasoning_text.delta", ...at, content_index: 0, delta: "Words." },
    {
      type: "response.reasoning_summary_part.added",
      ...at,
      summary_index: 0,
      part: { type: "summary_text", text: "" },
    },
    { type: "response.reasoning_summary_text.delta", ...at, summary_index: 0, delta: "Sum." },
  ]);
  expect(events.slice(-6, -1)).toMatchObject([
    { type: "response.reasoning_text.done", content_index: 0, text: "Words." },
    {
      type: "response.content_part.done",
      content_index: 0,
      part: { type: "reasoning_text", text: "Words." },
    },
    { type: "response.reasoning_summary_text.done", summary_index: 0, text: "Sum." },
    { type: "response.reasoning_summary_part.done", summary_index: 0, part: { text: "Sum." } },
    { type: "response.output_item.done" },
  ]);
  expect(events.at(-1)?.response?.output).toEqual([
    {
      id: "rs_1",
      type: "reasoning",
      summary: [{ type: "summary_text", text: "Sum." }],
      content: [{ type: "reasoning_text", text: "Words." }],
    },
  ]);
});

test("a cut answer's output stands in its order, in whatever order its items began", () => {
  const items = [1, 0].map((index) => ({
    type: "response.output_item.added",
    output_index: index,
    item: { id: `fc_${index}`, type: "function_call", call_id: `call_${index}`, name: "look", arguments: "" },
  }));
  const output = cutJson(items).at(-1)?.response?.output;
  expect(output).toMatchObject([{ id: "fc_0" }, { id: "fc_1" }]);
});

test("an event that comes twice is passed on once; who does not count may say the same word twice", () => {
  const twice = HELLO.flatMap((one) => [one, one]);
  expect(relayed(twice, "stop")).toBe(relayed(HELLO, "stop"));
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

test("the word for how it ended makes no line of ours", () => {
  const odd = HELLO.map((one) =>
    one.includes("response.completed")
      ? one.replace(`"status":"completed"`, `"status":"completed\\n\\nid: 9"`)
      : one,
  );
  expect(odd).not.toEqual(HELLO);
  expect(readResponseStream(relayed(odd, "stop")).final.status).toBe("completed");
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
  const native = { ...theirs, metadata: {}, prompt_cache_key: "hash", user: null };
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

test("an end that names more items than an answer has is told as far as one goes; a stream that begins them is cut", () => {
  const item = { type: "web_search_call", status: "completed" };
  const response = { status: "completed", output: Array.from({ length: 2_005 }, () => item) };
  const raw = relayed([JSON.stringify({ type: "response.completed", response })], "stop");
  expect(raw.split("event: response.output_item.done")).toHaveLength(2_001);
  const begun = response.output.map((_, output_index) =>
    JSON.stringify({ type: "response.output_item.added", output_index, item }),
  );
  expect(() => relayed([...begun, ...HELLO], "stop")).toThrow("too many items");
});
