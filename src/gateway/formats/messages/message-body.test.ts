// Tool arguments as a model of another shape wrote them, in a message that is not streamed.
import { expect, test } from "bun:test";
import { printMessage } from "./message-body.ts";

const HEAD = { requestId: `req_${"0".repeat(32)}`, created: 1, model: "m-1" };
const USAGE = {
  promptTokens: 1,
  completionTokens: 1,
  cachedTokens: null,
  reasoningTokens: null,
};

function printed(text: string): string {
  const toolCalls = [{ id: "a", name: "f", arguments: text }];
  const said = { reasoning: null, content: null, refusal: null, annotations: null, logprobs: null };
  const choices = [{ index: 0, ...said, toolCalls, finishReason: "tool_calls" as const }];
  return printMessage(HEAD, { choices, usage: null, upstreamId: null }, { usage: USAGE, gateway: "{}" });
}

test("numbers of arguments are told as they were written, also those that no double holds", () => {
  for (const text of ['{"id":175928847299117063}', '{"rows":[{"x":1e400}]}', "{}"])
    expect(printed(text)).toContain(`"input":${text}`);
});

test("arguments that are no object are shown as they are", () => {
  for (const text of ["175928847299117063", "[1]", "null", "nonsense"])
    expect(printed(text)).toContain(`"input":{"arguments":${JSON.stringify(text)}}`);
});
