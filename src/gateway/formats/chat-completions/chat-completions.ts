// POST /v1/chat/completions: the surface of OpenAI's chat clients (specification 2, wire.md §1–§4).
import { printError } from "../../../domain/error-body.ts";
import { printEvent } from "../../event-stream.ts";
import type { Answer } from "../../../providers/provider.ts";
import type { AnswerFigures, AnswerHead, AnswerPrinter, Format } from "../format.ts";
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
    return { request, printer: new ChatPrinter(request.n, includeUsage) };
  },
  sentFields,
  printError,
  // An ordinary error, and no terminator (wire.md §3.3).
  printInterrupted: (refusal, requestId, { gateway, number }) =>
    printEvent(printError(refusal, requestId, gateway), number),
  recognizes: (sent) => sent.startsWith(`id: 1\ndata: {"id":"${completionId("req_")}`),
};

class ChatPrinter implements AnswerPrinter {
  constructor(
    private readonly choices: number,
    private readonly includeUsage: boolean,
  ) {}

  answer(head: AnswerHead, answer: Answer, figures: AnswerFigures): string {
    return printAnswer(head, answer, figures);
  }

  stream(head: AnswerHead, numbered: boolean): Frames {
    const { choices, includeUsage } = this;
    return new Frames(DELTAS, head, { choices, includeUsage, numbered });
  }
}
