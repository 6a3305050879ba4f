// A refusal names the fields that this surface's callers wrote.
import { expect, test } from "bun:test";
import { Refusal } from "../../../domain/refusals.ts";
import { refusalOf } from "../chat-completions/chat-request.fixtures.ts";
import { parseResponseRequest } from "./parse-response-request.ts";
import { printResponseError } from "./response-errors.ts";
import { sentFieldsOf } from "./sent-response-fields.ts";

const printed = (refusal: Refusal): unknown => JSON.parse(printResponseError(refusal, "req_1", null));

test("a field has the name that it has here; all else is told as it is", () => {
  const details = { maximum: 7 } as never;
  const text = "`max_tokens` and messages[0] with response_format; `x.messages` and messages_max stay.";
  expect(
    printed(new Refusal("unsupported_value", text, { param: "messages[0].content[1]", details })),
  ).toEqual({
    error: {
      message: "`max_output_tokens` and input[0] with text.format; `x.messages` and messages_max stay.",
      type: "invalid_request_error",
      param: "input",
      code: "unsupported_value",
      request_id: "req_1",
      details,
    },
  });
  for (const [param, here] of [
    ["response_format.json_schema.schema", "text.format.json_schema.schema"],
    ["max_completion_tokens", "max_output_tokens"],
    ["reasoning_effort", "reasoning.effort"],
    ["top_p", "top_p"],
    [null, null],
  ] as const)
    expect(printed(new Refusal("invalid_request", "No.", { param }))).toMatchObject({
      error: { param: here },
    });
});

test("log probabilities are refused as the caller asked for them", () => {
  const text = "`logprobs` is not available with model `m`. Remove the field.";
  expect(printed(new Refusal("unsupported_parameter", text, { param: "logprobs" }))).toMatchObject({
    error: {
      message: "`message.output_text.logprobs` is not available with model `m`. Remove the field.",
      param: "include",
    },
  });
});

test.each(["messages", "max_tokens", "response_format", "reasoning_effort", "logprobs"])(
  "a field of another surface is refused by the name under which it came: %s",
  (name) => {
    const refusal = refusalOf(() => parseResponseRequest({ model: "m", input: "Hi", [name]: {} }));
    expect(printed(refusal)).toMatchObject({
      error: { message: refusal.message, param: name, code: "unknown_parameter" },
    });
  },
);

test("what a provider finds wrong is the caller's to mend where the caller wrote it, and not what was chosen here", () => {
  const { request } = parseResponseRequest({
    model: "m",
    input: "Hi",
    stream: true,
    store: false,
    user: "u",
    safety_identifier: "s",
    prompt_cache_key: "k",
    top_p: 0.5,
    future: 1,
    max_output_tokens: 9,
    reasoning: { effort: "low" },
    text: { verbosity: "low", format: { type: "json_object" } },
  });
  expect(Object.fromEntries(sentFieldsOf(request))).toEqual({
    system: "input",
    messages: "input",
    input: "input",
    top_p: "top_p",
    future: "future",
    max_tokens: "max_output_tokens",
    max_completion_tokens: "max_output_tokens",
    max_output_tokens: "max_output_tokens",
    reasoning: "reasoning",
    reasoning_effort: "reasoning.effort",
    text: "text",
    verbosity: "text.verbosity",
    response_format: "text.format",
  });
});
