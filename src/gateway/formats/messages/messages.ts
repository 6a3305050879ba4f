// POST /v1/messages: the surface of Anthropic's clients (surfaces.md).
import { printNamedEvent } from "../../event-stream.ts";
import type { Format } from "../format.ts";
import { VERSION_HEADER } from "./beta-names.ts";
import { printMessage } from "./message-body.ts";
import { printMessageError } from "./message-error.ts";
import { MessageEvents } from "./message-events.ts";
import { parseMessageRequest } from "./parse-message-request.ts";
import { sentInMessages } from "./sent-in-messages.ts";

export const messages: Format = {
  surface: "messages",
  path: "/v1/messages",
  object: "message",
  idHeader: "request-id",
  clientHeader: VERSION_HEADER,
  credentialHeader: "either",
  parse: (body, header) => ({ request: parseMessageRequest(body, header), printer: PRINTER }),
  sentFields: sentInMessages,
  printError: printMessageError,
  printInterrupted: (refusal, requestId, { gateway, number }) =>
    printNamedEvent("error", printMessageError(refusal, requestId, gateway), number),
  recognizes: (sent) => /^id: 1\nevent: (?:message_start|error)\n/.test(sent),
};

const PRINTER: ReturnType<Format["parse"]>["printer"] = {
  answer: printMessage,
  stream: (head, numbered) => new MessageEvents(head, numbered),
};
