// The contents of a streamed text completion's chunks: the text of a choice, in the frames of chat completions (wire.md §3.1).
import { wireJson } from "../../../domain/wire-json.ts";
import type { FinishReason } from "../../../providers/provider.ts";
import type { FrameWords } from "../chat-completions/frames.ts";
import type { ShownPart } from "../format.ts";
import { finishReasonOf, printHead } from "./answer-body.ts";

const EMPTY = `"text":""`;

export const TEXTS: FrameWords = {
  head: printHead,
  opening: (choice) => choiceOf(choice, EMPTY, null),
  part: (part) => choiceOf(part.choice, said(part), null),
  finish: (choice, reason) => choiceOf(choice, EMPTY, reason),
};

const choiceOf = (index: number, text: string, reason: FinishReason | null): string =>
  `{${text},"index":${index},"logprobs":null,"finish_reason":${reason === null ? "null" : `"${finishReasonOf(reason)}"`}}`;

/** Tools and their calls cannot be requested here, and searches have no place in a text. */
function said(part: ShownPart): string {
  if (part.type === "text" || part.type === "refusal") return `"text":${wireJson(part.text)}`;
  return part.type === "reasoning" ? `${EMPTY},"reasoning_content":${wireJson(part.text)}` : EMPTY;
}
