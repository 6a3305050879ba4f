// Whatever an upstream says, in whatever order, its events are those that a strict client puts together without a gap.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { readResponseStream, responseSchema } from "../../../../test/support/response-schema.ts";
import { NO_CLASSES } from "../../../domain/token-classes.ts";
import { Refusal } from "../../../domain/refusals.ts";
import { answerOfParts } from "../../../providers/http/answer.ts";
import type { FinishReason } from "../../../providers/provider.ts";
import type { AnswerFigures, ShownPart } from "../format.ts";
import { parseResponseRequest } from "./parse-response-request.ts";
import { responses } from "./responses.ts";

const HEAD = { requestId: `req_${"a".repeat(32)}`, created: 1_700_000_000, model: "m" };
const GATEWAY = `{"public_model":"m"}`;
const TOOLS = [
  { type: "function", name: "look" },
  { type: "custom", name: "patch" },
  { type: "namespace", name: "files", description: "", tools: [{ type: "function", name: "read" }] },
];
const { printer } = responses.parse(
  { model: "m", input: "Hi", tools: TOOLS, metadata: { a: "b" } },
  () => null,
);
const figures: AnswerFigures = {
  usage: {
    ...NO_CLASSES,
    promptTokens: 3,
    completionTokens: 4,
    reasoningTokens: 1,
    cachedTokens: 2,
  } as never,
  gateway: GATEWAY,
};

const words = fc.oneof(
  fc.string(),
  fc.constantFrom("\u2028", "\u0085é", '"sequence_number":7,', "\n\nid: 3\n", "{"),
);
const text = words.map((said): ShownPart => ({ type: "text", choice: 0, text: said }));
const refused = words.map((said): ShownPart => ({ type: "refusal", choice: 0, text: said }));
const thought = words.map((said): ShownPart => ({ type: "reasoning", choice: 0, text: said }));
const NAMES = ["look", "patch", "files__read", "unoffered"];
const calling = fc.record({
  name: fc.constantFrom(...NAMES),
  extra: fc.constantFrom(undefined, { google: { thought_signature: "c2ln" } }),
});
const arguing = fc.record({ of: fc.nat(5), said: fc.oneof(words, fc.constant('{"input":"x"}')) });
const cited: ShownPart = {
  type: "annotations",
  choice: 0,
  annotations: [
    {
      type: "url_citation",
      url_citation: { start_index: 0, end_index: 1, url: "https://a.example", title: "" },
    },
  ],
};

/** Any parts in any order, as readers give them: arguments come for calls that have begun, citations at the end. */
const anything = fc
  .tuple(fc.array(fc.oneof(text, refused, thought, calling, arguing), { maxLength: 30 }), fc.boolean())
  .map(([steps, cites]) => {
    const parts: ShownPart[] = [];
    let calls = 0;
    for (const step of steps) {
      if ("type" in step) parts.push(step);
      else if ("name" in step) {
        const extraContent = step.extra && { extraContent: step.extra };
        const begun = { choice: 0, index: calls, id: `call_${calls}`, name: step.name } as const;
        parts.push({ type: "tool_call", ...begun, ...extraContent });
        calls += 1;
      } else if (calls > 0)
        parts.push({ type: "tool_arguments", choice: 0, index: step.of % calls, text: step.said });
    }
    return cites ? [...parts, cited] : parts;
  });

const reasons = fc.constantFrom<FinishReason>("stop", "length", "tool_calls", "content_filter");

function streamOf(parts: readonly ShownPart[], numbered: boolean, end: FinishReason | Refusal): string {
  const stream = printer.stream(HEAD, numbered);
  let raw = stream.begin(GATEWAY);
  for (const part of parts) raw += stream.part(part);
  return raw + (end instanceof Refusal ? stream.error(end, GATEWAY) : stream.end(0, end, figures));
}

test("any answer is an event list without a gap, every item closed, and told once more as a whole", () => {
  fc.assert(
    fc.property(anything, fc.boolean(), reasons, (parts, numbered, reason) => {
      const { events, ids, final } = readResponseStream(streamOf(parts, numbered, reason));
      expect(ids).toHaveLength(numbered ? events.length : 0);
      expect(final.usage?.total_tokens).toBe(7);
      expect(final.status === "completed").toBe(reason === "stop" || reason === "tool_calls");
    }),
    { numRuns: 300 },
  );
});

test("an answer that breaks off closes what it opened, and fails in its own words", () => {
  const broken = new Refusal("context_length_exceeded", "Lower max_tokens.", { param: "messages" });
  fc.assert(
    fc.property(anything, fc.boolean(), (parts, numbered) => {
      const { final } = readResponseStream(streamOf(parts, numbered, broken));
      expect(final.error).toEqual({
        code: "context_length_exceeded" as never,
        message: "Lower max_output_tokens.",
        param: "input",
        type: "invalid_request_error",
      });
    }),
    { numRuns: 100 },
  );
});

test("a whole answer says what its stream says", () => {
  fc.assert(
    fc.property(anything, reasons, (parts, reason) => {
      const whole = answerOfParts([...parts, { type: "finish", choice: 0, reason }]);
      const body = printer.answer(HEAD, { ...whole, upstreamId: null }, figures);
      const { status, output, usage, incomplete_details: details } = responseSchema.parse(JSON.parse(body));
      const streamed = readResponseStream(streamOf(parts, false, reason)).final;
      expect([status, usage, details]).toEqual([
        streamed.status,
        streamed.usage,
        streamed.incomplete_details,
      ]);
      const said = (items: typeof output): unknown[] => [
        items
          .flatMap((item) => (item.type === "reasoning" ? item.summary.map((part) => part.text) : []))
          .join(""),
        items
          .flatMap((item) => (item.type === "message" ? item.content : []))
          .map((part) => ("text" in part ? part.text : ""))
          .join(""),
        items.flatMap((item) =>
          item.type === "function_call"
            ? [[item.call_id, item.name, item.namespace, item.arguments]]
            : item.type === "custom_tool_call"
              ? [[item.call_id, item.name, item.namespace, item.input]]
              : [],
        ),
      ];
      expect(said(output)).toEqual(said(streamed.output));
    }),
    { numRuns: 200 },
  );
});

test("what is sealed beside a call comes back with that very call", () => {
  const extraContent = { anthropic: { thinking: [{ at: 0, block: { type: "thinking" } }] } };
  const raw = streamOf(
    [
      { type: "reasoning", choice: 0, text: "Hm." },
      { type: "tool_call", choice: 0, index: 0, id: "call_a", name: "files__read", extraContent },
      { type: "tool_call", choice: 0, index: 1, id: "call_b", name: "look", extraContent },
    ],
    false,
    "tool_calls",
  );
  const { output } = readResponseStream(raw).final;
  expect(output.map(({ type }) => type)).toEqual([
    "reasoning",
    "function_call",
    "reasoning",
    "function_call",
  ]);
  const outputs = ["call_a", "call_b"].map((id) => ({
    type: "function_call_output",
    call_id: id,
    output: "",
  }));
  const { request } = parseResponseRequest({
    model: "m",
    input: [{ role: "user", content: "Hi" }, ...output, ...outputs],
  });
  const [, said] = request.messages;
  expect(said?.tool_calls?.map((call) => [call.id, call.function.name, call.extra_content])).toEqual([
    ["call_a", "files__read", extraContent],
    ["call_b", "look", extraContent],
  ]);
  expect(said?.reasoning_content).toBe("Hm.");
});

test("a stream that nobody prints any more ends as one that failed, by the place that it had reached", () => {
  const lost = new Refusal("provider_error", "Lost.", { retry: false });
  const sent = streamOf([{ type: "text", choice: 0, text: "Half" }], true, "stop");
  expect(responses.recognizes(sent)).toBe(true);
  const kept = sent.split("\n\n").slice(0, 5).join("\n\n");
  const last = responses.printInterrupted(lost, HEAD.requestId, { gateway: GATEWAY, number: 6 });
  const { final, ids } = readResponseStream(`${kept}\n\n${last}`, { interrupted: true });
  expect([final.status, final.model, final.error?.code as string]).toEqual(["failed", "m", "provider_error"]);
  expect(ids).toHaveLength(6);
});
