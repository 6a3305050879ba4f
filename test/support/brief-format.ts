// A second surface, for tests only: it shows what adding one takes, and proves that nothing else has to change. It
// has nothing in common with chat completions: other fields, another header for the key, another body, named events,
// another error.
import { isJsonObject, readBoolean, readInteger, readString, refuse } from "../../src/domain/read-value.ts";
import { type ChatRequest, emptyRequest } from "../../src/domain/chat-request.ts";
import { Refusal } from "../../src/domain/refusals.ts";
import type { AnswerHead, AnswerFigures, Format, StreamPrinter } from "../../src/gateway/formats/format.ts";

const idOf = (requestId: string): string => `brief_${requestId.slice(4)}`;

export const brief: Format = {
  surface: "brief",
  path: "/v1/brief",
  object: "brief",
  idHeader: "brief-id",
  credentialHeader: "x-api-key",
  parse: (body) => {
    const request = requestOf(body);
    return {
      request,
      printer: {
        answer: (head, { choices: [choice] }, figures) =>
          JSON.stringify({ brief: idOf(head.requestId), said: choice?.content, why: choice?.finishReason })
            .slice(0, -1)
            .concat(`,${figuresOf(figures)}}`),
        stream: (head, numbered) => new BriefEvents(head, numbered),
      },
    };
  },
  sentFields: ({ temperature }) =>
    new Map([["messages", "ask"], ...(temperature === null ? [] : [["temperature", "heat"] as const])]),
  printError: (refusal, requestId, gateway) =>
    `{"fault":{"name":"${refusal.code}","text":${JSON.stringify(refusal.message)},"field":${JSON.stringify(refusal.param)},"brief":"${idOf(requestId)}"},"gateway":${gateway}}`,
  printInterrupted: (refusal, requestId, { gateway, number }) =>
    event(number, "lost", `{"fault":"${refusal.code}","brief":"${idOf(requestId)}","gateway":${gateway}}`) +
    event(number + 1, "shut", "{}"),
  recognizes: (sent) => sent.startsWith("id: 1\nevent: open\n"),
};

/** `{ model, ask, atMost?, heat?, live? }` */
function requestOf(body: unknown): ChatRequest {
  if (!isJsonObject(body)) throw new Refusal("invalid_request", "A brief is one JSON object.");
  for (const name of Object.keys(body))
    if (!["model", "ask", "atMost", "heat", "live"].includes(name))
      throw refuse("unknown_parameter", null, name, "is no field of a brief.");
  return {
    ...emptyRequest(),
    model: readString(body["model"], null, "model"),
    messages: [{ role: "user", content: readString(body["ask"], null, "ask") }],
    maxTokens: body["atMost"] === undefined ? null : readInteger(body["atMost"], null, "atMost"),
    temperature: body["heat"] === undefined ? null : readInteger(body["heat"], null, "heat"),
    stream: body["live"] === undefined ? false : readBoolean(body["live"], null, "live"),
  };
}

const figuresOf = ({ usage, gateway }: AnswerFigures): string =>
  `"in":${usage.promptTokens},"out":${usage.completionTokens},"gateway":${gateway}`;

const event = (number: number | null, name: string, data: string): string =>
  `${number === null ? "" : `id: ${number}\n`}event: ${name}\ndata: ${data}\n\n`;

/** Every event has a name and, in its data, an index from 0, with or without an idempotency key. */
class BriefEvents implements StreamPrinter {
  private at = 0;

  constructor(
    private readonly head: AnswerHead,
    private readonly numbered: boolean,
  ) {}

  begin = (gateway: string): string =>
    this.event("open", `"brief":"${idOf(this.head.requestId)}","gateway":${gateway}`);

  part: StreamPrinter["part"] = (part) =>
    part.type === "text" ? this.event("say", `"text":${JSON.stringify(part.text)}`) : "";

  finish = (): string => "";

  end: StreamPrinter["end"] = (_, reason, figures) =>
    this.event("sum", `"why":"${reason}",${figuresOf(figures)}`) + this.event("shut", `"brief":null`);

  error: StreamPrinter["error"] = (refusal, gateway) =>
    this.event("fault", `"name":"${refusal.code}","gateway":${gateway}`) + this.event("shut", `"brief":null`);

  filler = (): string => event(null, "wait", "{}");

  private event(name: string, members: string): string {
    const place = this.at++;
    return event(this.numbered ? place + 1 : null, name, `{"at":${place},${members}}`);
  }
}
