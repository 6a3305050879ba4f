// The chat-completions shape, at any base URL and in any vendor's dialect (wire.md §8). Passes fields through by allowlist.
import type { Authorize, Codec } from "../codec.ts";
import { SseEvents } from "../http/sse.ts";
import type { Dialect } from "./dialects.ts";
import { asksForVectors, embeddingsBody, EmbeddingsReader, inputsOf } from "./embeddings.ts";
import { outgoingBody } from "./outgoing-body.ts";
import { ChunkReader } from "./parts-of-chunk.ts";
import { readError } from "./read-error.ts";

export interface OpenAiAccount {
  /** The provider's name: the key under which its own state comes back (wire.md §8.4). */
  family: string;
  /** What proves whose account it is: in headers only. */
  authorize: Authorize;
  dialect: Dialect;
}

export function openAiCodec({ family, authorize, dialect }: OpenAiAccount): Codec<string> {
  return {
    fields: dialect.fields,
    files: dialect.files,
    idHeader: "x-request-id",
    speaks: ["openai-embeddings"],
    prepare: (draft) =>
      asksForVectors(draft.request)
        ? embeddingsBody(draft, dialect.fields)
        : outgoingBody(draft, { family, dialect }),
    target: ({ request }) => ({
      path: asksForVectors(request) ? "/embeddings" : "/chat/completions",
      headers: {
        "content-type": "application/json",
        accept: request.stream ? "text/event-stream" : "application/json",
      },
    }),
    authorize,
    framing: () => new SseEvents(),
    reader: ({ request }) =>
      asksForVectors(request)
        ? new EmbeddingsReader(inputsOf(request.native?.body["input"]).length)
        : new ChunkReader({ choices: request.n, logprobs: request.applied.logprobs === true, family }),
    readError,
  };
}
