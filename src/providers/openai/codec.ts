// The chat-completions shape, at any base URL and in any vendor's dialect (wire.md §8), and, for callers of that
// shape, the Responses shape if the vendor also has it. Fields of the former pass through by allowlist.
import type { Authorize, Codec } from "../codec.ts";
import { SseEvents } from "../http/sse.ts";
import { issuerOf } from "../issuer.ts";
import type { Dialect } from "./dialects.ts";
import { asksForVectors, embeddingsBody, EmbeddingsReader, inputsOf, tooManyVectors } from "./embeddings.ts";
import { outgoingBody } from "./outgoing-body.ts";
import { ChunkReader } from "./parts-of-chunk.ts";
import { readError } from "./read-error.ts";
import { responsesBody } from "./responses/responses-body.ts";
import { ResponsesReader } from "./responses/responses-reader.ts";

export interface OpenAiAccount {
  /** The provider's name: the key under which its own state comes back (wire.md §8.4). */
  family: string;
  /** Authenticates calls, in headers only. */
  authorize: Authorize;
  dialect: Dialect;
}

export function openAiCodec({ family, authorize, dialect }: OpenAiAccount): Codec<string> {
  const responses = dialect.responses === true;
  return {
    fields: dialect.fields,
    files: dialect.files,
    idHeader: "x-request-id",
    speaks: responses ? ["openai-embeddings", "openai-responses"] : ["openai-embeddings"],
    prepare: (draft) => {
      const { native } = draft.request;
      if (asksForVectors(draft.request)) return embeddingsBody(draft, dialect.fields);
      return responses && native?.shape === "openai-responses"
        ? responsesBody(draft, native, issuerOf(family, draft.release.upstreamModel))
        : outgoingBody(draft, { family, dialect });
    },
    target: ({ request, body }) => ({
      path: asksForVectors(request) ? "/embeddings" : body.native ? "/responses" : "/chat/completions",
      headers: {
        "content-type": "application/json",
        accept: request.stream ? "text/event-stream" : "application/json",
      },
    }),
    authorize,
    framing: () => new SseEvents(),
    reader: ({ request, body, upstreamModel }) => {
      if (asksForVectors(request))
        return new EmbeddingsReader(inputsOf(request.native?.body["input"]).length);
      return body.native
        ? new ResponsesReader(issuerOf(family, upstreamModel))
        : new ChunkReader({
            choices: request.n,
            logprobs: request.applied.logprobs === true,
            family,
            ...(dialect.reasoningDetails && {
              details: {
                issuer: issuerOf(family, upstreamModel),
                thinks: body.mayThink !== false,
              },
            }),
          });
    },
    tooLarge: ({ request }) => (asksForVectors(request) ? tooManyVectors() : null),
    readError,
  };
}
