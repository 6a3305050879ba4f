// Gemini's own shape, `generateContent` (wire.md §8): at Google's API with a key, or at Vertex with a service
// account.
import type { Codec } from "../codec.ts";
import type { GoogleServiceAccount } from "../credentials/google-service-account.ts";
import { SseEvents } from "../http/sse.ts";
import { GeminiReader } from "./answer-reader.ts";
import { readGeminiError } from "./errors.ts";
import { GEMINI_FIELDS, geminiBody } from "./request-body.ts";
import { issuerOf } from "../issuer.ts";

export interface GoogleAccount {
  /** The provider's name, which identifies the signatures that come back to it (wire.md §8.4). */
  provider: string;
  /** The path in front of `/models/…`. */
  path: string;
  /** A key in its header, or an account that gets tokens; null = none. */
  credential: { apiKey: string } | { account: GoogleServiceAccount } | null;
}

export function geminiCodec({ provider, path, credential }: GoogleAccount): Codec<string> {
  const account = credential !== null && "account" in credential ? credential.account : null;
  const key: Record<string, string> =
    credential !== null && "apiKey" in credential ? { "x-goog-api-key": credential.apiKey } : {};
  return {
    fields: GEMINI_FIELDS,
    files: true,
    idHeader: "x-request-id",
    prepare: (draft) => geminiBody(draft, provider),
    target: ({ request, upstreamModel }) => ({
      path: `${path}/models/${encodeURIComponent(upstreamModel)}:${request.stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
      headers: {
        "content-type": "application/json",
        accept: request.stream ? "text/event-stream" : "application/json",
      },
    }),
    authorize: account === null ? () => key : account.proof(),
    framing: () => new SseEvents(),
    reader: ({ request: { n, applied }, upstreamModel }) =>
      new GeminiReader({
        choices: n,
        topLogprobs: applied.logprobs === true ? (applied.top_logprobs ?? 0) : null,
        issuer: () => issuerOf(provider, upstreamModel),
      }),
    readError: readGeminiError,
  };
}
