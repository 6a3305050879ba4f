// A request of the list as a curl command that sends it again: without its key and its content, which are not stored.
import { FIRST_SURFACE } from "../../../src/domain/surfaces.ts";

interface Sent {
  baseUrl: string;
  model: string;
  surface: string | null;
  stream: boolean;
  /** The output limit that it was priced for; null if unknown. */
  outputTokens: number | null;
}

const SAID = "…";

/** The path of each surface, and its names for the text and the output limit. */
const BODIES: Record<string, (most: number | null) => { path: string; body: object }> = {
  [FIRST_SURFACE]: (most) => ({
    path: "/chat/completions",
    body: { messages: [{ role: "user", content: SAID }], ...(most !== null && { max_tokens: most }) },
  }),
  responses: (most) => ({
    path: "/responses",
    body: { input: SAID, ...(most !== null && { max_output_tokens: most }) },
  }),
  messages: (most) => ({
    path: "/messages",
    body: { messages: [{ role: "user", content: SAID }], max_tokens: most ?? 1024 },
  }),
  embeddings: () => ({ path: "/embeddings", body: { input: [SAID] } }),
  completions: (most) => ({
    path: "/completions",
    body: { prompt: SAID, ...(most !== null && { max_tokens: most }) },
  }),
};

export function printCurl({ baseUrl, model, surface, stream, outputTokens }: Sent): string {
  const { path, body } = (BODIES[surface ?? FIRST_SURFACE] ?? BODIES[FIRST_SURFACE])?.(outputTokens) ?? {
    path: "/chat/completions",
    body: {},
  };
  const printed = JSON.stringify({ model, ...body, ...(stream && { stream }) });
  return `curl ${baseUrl}${path} \\
  -H "Authorization: Bearer $TOLLGATE_KEY" \\
  -H "Content-Type: application/json" \\
  -d ${quoted(printed)}`;
}

/** Quotes a text as one shell word, because callers may write anything as a model's name. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
