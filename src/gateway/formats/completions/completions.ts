// POST /v1/completions: OpenAI's older surface, one prompt as one chat turn (docs/decisions/0050-texts-and-vectors.md). Its events
// have no names, like those of chat completions; their ids distinguish the two.
import { printEvent } from "../../event-stream.ts";
import { Frames } from "../chat-completions/frames.ts";
import { sentFields } from "../chat-completions/sent-fields.ts";
import type { Format } from "../format.ts";
import { textCompletionId, printTexts } from "./answer-body.ts";
import { printCompletionError } from "./completion-error.ts";
import { parseCompletionRequest } from "./parse-completion-request.ts";
import { TEXTS } from "./texts.ts";

export const completions: Format = {
  surface: "completions",
  path: "/v1/completions",
  object: "text_completion",
  idHeader: null,
  credentialHeader: "authorization",
  parse: (body) => {
    const { request, includeUsage } = parseCompletionRequest(body);
    const choices = request.n;
    return {
      request,
      printer: {
        answer: printTexts,
        stream: (head, numbered) => new Frames(TEXTS, head, { choices, includeUsage, numbered }),
      },
    };
  },
  // The one message is the prompt.
  sentFields: (request) => new Map([...sentFields(request), ["messages", "prompt"], ["system", "prompt"]]),
  printError: printCompletionError,
  printInterrupted: (refusal, requestId, { gateway, number }) =>
    printEvent(printCompletionError(refusal, requestId, gateway), number),
  recognizes: (sent) => sent.startsWith(`id: 1\ndata: {"id":"${textCompletionId("req_")}`),
};
