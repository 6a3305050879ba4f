// Whatever an upstream sends, in whatever order, a strict client can assemble its events without a gap.
import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  readResponseStream,
  type ResponseJson,
  responseSchema,
} from "../../../../test/support/response-schema.ts";
import { Refusal } from "../../../domain/refusals.ts";
import { answerOfParts } from "../../../providers/http/answer.ts";
import { parseResponseRequest } from "./parse-response-request.ts";
import {
  anything,
  figures,
  GATEWAY,
  HEAD,
  printerOf,
  reasons,
  printedStream,
} from "./response-events.fixtures.ts";
import { responses } from "./responses.ts";
import { unsealState } from "./sealed-state.ts";

test("any answer is an event list without a gap, every item closed, and told once more as a whole", () => {
  fc.assert(
    fc.property(anything, fc.boolean(), reasons, (parts, numbered, reason) => {
      const { events, ids, final } = readResponseStream(printedStream(parts, numbered, reason));
      expect(ids).toHaveLength(numbered ? events.length : 0);
      expect(final.usage).toEqual({
        input_tokens: 3,
        input_tokens_details: { cached_tokens: 2, cache_write_tokens: 5 },
        output_tokens: 4,
        output_tokens_details: { reasoning_tokens: 1 },
        total_tokens: 7,
      });
      expect(final.status === "completed").toBe(reason === "stop" || reason === "tool_calls");
    }),
    { numRuns: 300 },
  );
});

test("an answer that breaks off closes what it opened, and fails in its own words", () => {
  const broken = new Refusal("context_length_exceeded", "Lower max_tokens.", { param: "messages" });
  fc.assert(
    fc.property(anything, fc.boolean(), (parts, numbered) => {
      const { final } = readResponseStream(printedStream(parts, numbered, broken));
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
      const body = printerOf().answer(HEAD, { ...whole, upstreamId: null }, figures);
      const { status, output, usage, incomplete_details: details } = responseSchema.parse(JSON.parse(body));
      const streamed = readResponseStream(printedStream(parts, false, reason)).final;
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

test("a response says its request back, but for what grows", () => {
  const asked = {
    model: "m",
    input: "Hi",
    instructions: "Brief",
    tools: [{ type: "function", name: "look" }],
    tool_choice: "required",
    metadata: { a: "b" },
    max_output_tokens: 9,
    top_p: 0.5,
    user: "u",
    reasoning: { effort: "low", summary: "auto" },
    text: { verbosity: "low" },
    truncation: "auto",
  };
  const whole = answerOfParts([{ type: "finish", choice: 0, reason: "stop" }]);
  const { printer } = responses.parse(asked, () => null);
  const body = responseSchema.parse(
    JSON.parse(printer.answer(HEAD, { ...whole, upstreamId: null }, figures)),
  );
  const { model: _model, input: _input, ...said } = asked;
  expect(body).toMatchObject({
    ...said,
    instructions: null,
    tools: [],
    store: false,
    text: { verbosity: "low", format: { type: "text" } },
  });
});

test("a whole answer seals one thought once, and each call's state in front of it", () => {
  const extraContent = { google: { thought_signature: "c2ln" } };
  const whole = answerOfParts([
    { type: "reasoning", choice: 0, text: "Hm." },
    { type: "tool_call", choice: 0, index: 0, id: "call_a", name: "look", extraContent },
    { type: "tool_call", choice: 0, index: 1, id: "call_b", name: "look", extraContent },
    { type: "finish", choice: 0, reason: "tool_calls" },
  ]);
  const body = printerOf().answer(HEAD, { ...whole, upstreamId: null }, figures);
  const { output } = responseSchema.parse(JSON.parse(body));
  expect(
    output.map((item) => ("encrypted_content" in item ? unsealState(item.encrypted_content) : null)),
  ).toEqual([{ call: "call_a", extra: extraContent }, null, { call: "call_b", extra: extraContent }, null]);
});

test("what is sealed beside a call comes back with that very call", () => {
  const extraContent = { anthropic: { thinking: [{ at: 0, block: { type: "thinking" } }] } };
  const raw = printedStream(
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
  const sent = printedStream([{ type: "text", choice: 0, text: "Half" }], true, "stop");
  expect(responses.recognizes(sent)).toBe(true);
  const unkept = { gateway: GATEWAY, number: 6, sent: "" };
  const kept = sent.split("\n\n").slice(0, 5).join("\n\n");
  const last = responses.printInterrupted(lost, HEAD.requestId, unkept);
  const { final, ids } = readResponseStream(`${kept}\n\n${last}`, { interrupted: true });
  expect([final.status, final.model, final.error?.code as string]).toEqual(["failed", "m", "provider_error"]);
  expect(ids).toHaveLength(6);
});

test("wherever it broke off, what was sent is closed by what was said until then, and its response keeps its words", () => {
  const lost = new Refusal("provider_error", "Lost.", { retry: false });
  fc.assert(
    fc.property(anything, fc.nat(), (parts, at) => {
      const blocks = printedStream(parts, true, "stop").split("\n\n").slice(0, -2);
      const kept = blocks.slice(0, 1 + (at % blocks.length));
      const sent = `${kept.join("\n\n")}\n\n`;
      const broken = { gateway: "{}", number: kept.length + 1, sent };
      const { final, events } = readResponseStream(
        sent + responses.printInterrupted(lost, HEAD.requestId, broken),
      );
      const [first] = events;
      const { error: _none, ...begun } = (first as { response: ResponseJson }).response;
      expect(final).toMatchObject({ ...begun, status: "failed", output: final.output, gateway: {} });
      expect([final.error?.code as string, final.created_at]).toEqual(["provider_error", HEAD.created]);
    }),
    { numRuns: 150 },
  );
});

test("a broken word among what was kept keeps nobody from ending it", () => {
  const lost = new Refusal("provider_error", "Lost.");
  const sent =
    "id: 1\nevent: response.created\ndata: {\n\nid: 2\nevent: response.output_item.added\ndata: [\n\n";
  const last = responses.printInterrupted(lost, HEAD.requestId, { gateway: GATEWAY, number: 3, sent });
  expect(last).toStartWith("id: 3\nevent: response.failed\n");
});
