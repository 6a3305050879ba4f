// POST /v1/chat/completions: the surface of OpenAI's chat clients (specification 2, wire.md §1–§4).
import { printError } from "../../../domain/error-body.ts";
import { printEvent } from "../../event-stream.ts";
import type { AnswerPrinter, Format } from "../format.ts";
import { completionId, printAnswer } from "./answer-body.ts";
import { DELTAS } from "./deltas.ts";
import { Frames } from "./frames.ts";
import { parseChatRequest } from "./parse-chat-request.ts";
import { sentFields } from "./sent-fields.ts";

export const chatCompletions: Format = {
  surface: "chat.completions",
  path: "/v1/chat/completions",
  object: "chat.completion",
  idHeader: null,
  credentialHeader: "authorization",
  parse: (body) => {
    const { request, includeUsage } = parseChatRequest(body);
    return { request, printer: printerFor(request.n, includeUsage) };
  },
  sentFields,
  printError,
  // An error like any other, and no terminator (wire.md §3.3).
  printInterrupted: (refusal, requestId, { gateway, number }) =>
    printEvent(printError(refusal, requestId, gateway), number),
  recognizes: (sent) => sent.startsWith(`id: 1\ndata: {"id":"${completionId("req_")}`),
};

const printerFor = (choices: number, includeUsage: boolean): AnswerPrinter => ({
  answer: printAnswer,
  stream: (head, numbered) => new Frames(DELTAS, head, { choices, includeUsage, numbered }),
});
