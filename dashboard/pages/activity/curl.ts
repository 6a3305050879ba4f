// A request of the list as a program would send it again: without its key and without what it said, which are not kept.
import { FIRST_SURFACE } from "../../../src/domain/surfaces.ts";

interface Sent {
  baseUrl: string;
  model: string;
  surface: string | null;
  stream: boolean;
  /** What it was priced for; null where that is not known. */
  outputTokens: number | null;
}

const SAID = "…";

/** Where each surface is, and what it calls the text and the largest output. */
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

/** As one word of a shell, whatever a caller wrote as the name of a model. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
