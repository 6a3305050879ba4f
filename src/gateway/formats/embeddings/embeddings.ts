// POST /v1/embeddings: vectors of texts. Holds for the input and settles on the provider's usage; there is no output and no stream
// (surfaces.md §5, docs/decisions/0050-texts-and-vectors.md).
import { printError } from "../../../domain/error-body.ts";
import { printEvent } from "../../event-stream.ts";
import type { Format } from "../format.ts";
import { printVectors } from "./answer-body.ts";
import { parseEmbeddingsRequest } from "./parse-embeddings-request.ts";

/** Fields set here, or sent as a hash. */
const CHANGED: ReadonlySet<string> = new Set(["model", "user"]);

export const embeddings: Format = {
  surface: "embeddings",
  path: "/v1/embeddings",
  object: "embedding",
  idHeader: null,
  credentialHeader: "authorization",
  parse: (body) => {
    const { request, encoding } = parseEmbeddingsRequest(body);
    return {
      request,
      printer: {
        answer: (head, answer, figures) => printVectors(head, answer, { ...figures, encoding }),
        stream: () => {
          throw new Error("embeddings cannot be streamed");
        },
      },
    };
  },
  sentFields: ({ native }) =>
    new Map(
      Object.keys(native?.body ?? {})
        .filter((name) => !CHANGED.has(name))
        .map((name) => [name, name]),
    ),
  printError,
  printInterrupted: (refusal, requestId, { gateway, number }) =>
    printEvent(printError(refusal, requestId, gateway), number),
  recognizes: () => false,
};
