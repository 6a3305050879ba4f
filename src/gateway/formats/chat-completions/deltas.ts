// The contents of chat completion chunks (specification 2.3, wire.md §3.1): a delta of a choice.
import { wireJson } from "../../../domain/wire-json.ts";
import type { FinishReason } from "../../../providers/provider.ts";
import type { ShownPart } from "../format.ts";
import { completionId } from "./answer-body.ts";
import type { FrameWords } from "./frames.ts";

export const DELTAS: FrameWords = {
  head: ({ requestId, created, model }) =>
    `{"id":"${completionId(requestId)}","object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(model)},"choices":`,
  opening: (choice) => choiceOf(choice, `{"role":"assistant","content":"","refusal":null}`, null),
  part: (part) => {
    // Most of a stream: printed as one string, because each concatenated piece is more work for the garbage collector.
    if (part.type === "text" && !part.logprobs)
      return `{"index":${part.choice},"delta":{"content":${wireJson(part.text)}},"logprobs":null,"finish_reason":null}`;
    const logprobs = part.type === "text" && part.logprobs ? wireJson(part.logprobs) : null;
    return choiceOf(part.choice, deltaOf(part), null, logprobs);
  },
  finish: (choice, reason) => choiceOf(choice, "{}", reason),
};

const choiceOf = (
  index: number,
  delta: string,
  reason: FinishReason | null,
  logprobs: string | null = null,
): string =>
  `{"index":${index},"delta":${delta},"logprobs":${logprobs},"finish_reason":${reason === null ? "null" : `"${reason}"`}}`;

function deltaOf(part: ShownPart): string {
  switch (part.type) {
    case "text":
      return `{"content":${wireJson(part.text)}}`;
    case "refusal":
      return `{"refusal":${wireJson(part.text)}}`;
    case "reasoning":
      return `{"reasoning_content":${wireJson(part.text)}}`;
    case "tool_call":
      return `{"tool_calls":[${wireJson({
        index: part.index,
        id: part.id,
        type: "function",
        function: { name: part.name, arguments: "" },
        ...(part.extraContent ? { extra_content: part.extraContent } : {}),
      })}]}`;
    case "tool_arguments":
      return `{"tool_calls":[{"index":${part.index},"function":{"arguments":${wireJson(part.text)}}}]}`;
    case "native": // no upstream speaks this surface natively: its events are parsed, and printed anew
      return "{}";
    case "annotations":
      return `{"annotations":${wireJson(part.annotations.map((annotation, index) => ({ index, ...annotation })))}}`;
  }
}
