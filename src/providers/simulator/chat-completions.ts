// The simulator's first face: the chat-completions shape, and its streams.
import { z } from "zod";
import { randomBase62 } from "../../lib/id.ts";
import type { SimulatedAnswer } from "./answer.ts";
import { type Asked, askedSchema } from "./asked.ts";
import type { Behaviour } from "./behaviour.ts";
import { documentTokens } from "./documents.ts";
import { type Face, FaceRefusal, type Heard, type Said, type StreamWords } from "./face.ts";
import { logprobsOf } from "./logprobs.ts";
import { type Head, named, printBody, printChunk, simulatedUsage } from "./print.ts";

const FAILED = {
  error: { message: "the simulated model failed", type: "server_error", code: "server_error" },
};

export const chatCompletions: Face = {
  serves: (path) => path === "/v1/chat/completions",
  hear: (body) => heard(withDocuments(askedSchema.parse(body))),
  refusal: ({ code, message }) => ({ error: { message, type: "simulated", param: null, code } }),
  contentType: "text/event-stream; charset=utf-8",
};

/** A file part as the vendor reads it: a PDF in base64, and its name. */
const filePart = z.looseObject({
  file: z.strictObject({
    filename: z.string().min(1),
    file_data: z.string().regex(/^data:application\/pdf;base64,[A-Za-z0-9+/]+={0,2}$/),
  }),
});

/** Separates the documents that the model reads from the texts. */
function withDocuments(asked: Asked): Asked {
  const documents: string[] = [];
  const messages = asked.messages.map((message) => {
    if (!Array.isArray(message.content)) return message;
    const content = message.content.map((part) => {
      if (part["type"] !== "file") return part;
      const read = filePart.safeParse(part);
      if (message.role !== "user" || !read.success)
        throw new FaceRefusal("Invalid file data.", { code: "invalid_value", model: asked.model });
      documents.push(read.data.file.file_data.replace(/^[^,]*,/, ""));
      return { type: "file", name: read.data.file.filename };
    });
    return { ...message, content };
  });
  return { ...asked, messages, documentTokens: documentTokens(documents, asked) };
}

function heard(asked: Asked): Heard {
  const head: Head = {
    id: `chatcmpl-sim${randomBase62(16)}`,
    model: asked.model,
    created: Math.floor(Date.now() / 1000),
  };
  return {
    asked,
    whole: (answer, behaviour) => printBody(head, answer, behaviour),
    failed: FAILED,
    stream: (answer, behaviour) => streamed(head, answer, { asked, behaviour }),
  };
}

function streamed(
  anonymous: Head,
  answer: SimulatedAnswer,
  { asked, behaviour }: { asked: Asked; behaviour: Behaviour },
): StreamWords {
  const head = named(anonymous, behaviour);
  const toldUsage = asked.stream_options?.include_usage === true && behaviour.no_usage !== true;
  const usage = toldUsage ? printChunk(head, [], simulatedUsage(answer, behaviour)) : "";
  return {
    events: events(head, answer, behaviour),
    end: `${usage}data: [DONE]\n\n`,
    error: `data: ${JSON.stringify(FAILED)}\n\n`,
    late: printChunk(head, [{ index: 0, delta: { content: "late" } }]),
  };
}

function* events(head: Head, answer: SimulatedAnswer, behaviour: Behaviour): Generator<Said> {
  const perEvent = behaviour.tokens_per_chunk ?? 1;
  for (const [index, { fragments, finishReason }] of answer.choices.entries()) {
    const chunk = (delta: unknown, logprobs: unknown, finish_reason: string | null = null): string =>
      printChunk(head, [{ index, delta, logprobs, finish_reason }]);
    const early = behaviour.usage_first === true && index === 0 ? simulatedUsage(answer, behaviour) : null;
    const role = { index, delta: { role: "assistant", content: "" }, logprobs: null, finish_reason: null };
    yield { bytes: printChunk(head, [role], early), tokens: 0 };
    for (let at = 0; at < fragments.length; at += perEvent) {
      const group = fragments.slice(at, at + perEvent);
      yield {
        bytes: group
          .map((fragment) => chunk(fragment.delta, logprobsOf([fragment], answer.topLogprobs)))
          .join(""),
        tokens: group.reduce((total, { tokens }) => total + tokens, 0),
      };
    }
    if (behaviour.no_finish !== true) yield { bytes: chunk({}, null, finishReason), tokens: 0 };
  }
}
