// What this surface cannot express: a refusal becomes part of the text, and tool calls end like any other answer.
import { expect, test } from "bun:test";
import type { FinishReason } from "../../../providers/provider.ts";
import { Frames } from "../chat-completions/frames.ts";
import { printTexts } from "./answer-body.ts";
import { TEXTS } from "./texts.ts";

const head = { requestId: "req_1", created: 1, model: "m" };
const usage = { promptTokens: 3, completionTokens: 2, cachedTokens: null, reasoningTokens: null };
const figures = { usage, gateway: "{}" };

const whole = (finishReason: FinishReason): unknown =>
  JSON.parse(
    printTexts(
      head,
      {
        choices: [
          {
            index: 0,
            content: "Well. ",
            refusal: "No.",
            reasoning: null,
            toolCalls: [],
            annotations: null,
            logprobs: null,
            finishReason,
          },
        ],
        usage: null,
        upstreamId: null,
      },
      figures,
    ),
  );

function streamed(finishReason: FinishReason): string[] {
  const frames = new Frames(TEXTS, head, { choices: 1, includeUsage: false, numbered: true });
  return [
    frames.part({ type: "text", choice: 0, text: "Well. " }),
    frames.filler(),
    frames.part({ type: "refusal", choice: 0, text: "No." }),
    frames.end(0, finishReason, figures),
  ];
}

const chunkIn = (event: string): object =>
  (JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? "") as { choices: [object] }).choices[0];

test.each([
  ["stop", "stop"],
  ["length", "length"],
  ["content_filter", "content_filter"],
  ["tool_calls", "stop"],
] as const)("what was declined is in the text, and %s ends it as %s, whole and streamed", (reason, told) => {
  expect(whole(reason)).toMatchObject({ choices: [{ text: "Well. No.", finish_reason: told }] });
  expect(streamed(reason).map(chunkIn)).toEqual(
    ["Well. ", "", "No.", ""].map((text, at) => ({
      text,
      index: 0,
      logprobs: null,
      finish_reason: at === 3 ? told : null,
    })),
  );
});

test("a filler is an event by itself that has no number", () => {
  const [first = "", filler = "", next = ""] = streamed("stop");
  expect([first.slice(0, 6), next.slice(0, 6)]).toEqual(["id: 1\n", "id: 2\n"]);
  expect(filler).toMatch(/^data: \{.*\}\n\n$/);
});
