// POST /v1/responses: the surface of OpenAI's newer clients (surfaces.md). Stateless: each request carries its whole conversation.
import type { AnswerPrinter, Format } from "../format.ts";
import { parseResponseRequest, type ParsedResponseRequest } from "./parse-response-request.ts";
import { printResponse } from "./response-answer.ts";
import { printResponseInterrupted } from "./interrupted-response.ts";
import { refusedInStream } from "./refused-in-stream.ts";
import { printResponseError } from "./response-errors.ts";
import { ResponseEvents } from "./response-events.ts";
import { sentFieldsOf } from "./sent-response-fields.ts";

export const responses: Format = {
  surface: "responses",
  path: "/v1/responses",
  object: "response",
  idHeader: null,
  credentialHeader: "authorization",
  parse: (body) => {
    const asked = parseResponseRequest(body);
    return { request: asked.request, printer: printerOf(asked) };
  },
  sentFields: sentFieldsOf,
  printError: printResponseError,
  refusedInStream,
  printInterrupted: printResponseInterrupted,
  recognizes: (sent) => sent.startsWith("id: 1\nevent: response.created\n"),
};

const printerOf = (asked: ParsedResponseRequest): AnswerPrinter => ({
  answer: (head, answer, figures) => printResponse(head, answer, figures, asked),
  stream: (head, numbered) => new ResponseEvents(head, asked, numbered),
});
