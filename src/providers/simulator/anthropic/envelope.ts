// Where a call in this shape is accepted: at the vendor's own path, or below a Vertex AI project, with the model in
// the path and the API's version in the body. Each requires its credentials.
import type { IncomingHttpHeaders } from "node:http";
import { FaceRefusal } from "../face.ts";

const DIRECT = "/anthropic/v1/messages";
const VERTEX =
  /^\/anthropic\/v1\/projects\/[^/]+\/locations\/[^/]+\/publishers\/anthropic\/models\/([^/:]+):(rawPredict|streamRawPredict)$/;
const VERTEX_VERSION = "vertex-2023-10-16";

/** Google refuses a call with one name that it does not know; these it is published to know, whatever the gateway sends. */
const VERTEX_BETAS: ReadonlySet<string> = new Set([
  "claude-code-20250219",
  "compact-2026-01-12",
  "compact-2026-09-04",
  "computer-use-2025-01-24",
  "computer-use-2025-11-24",
  "context-1m-2025-08-07",
  "context-management-2025-06-27",
  "dangerous-tool-use-2026-09-03",
  "interleaved-thinking-2025-05-14",
  "per-turn-control-2026-07-01",
  "thinking-binding-controls-2026-08-01",
  "thinking-display-updates-2026-08-18",
  "tool-search-tool-2025-10-19",
  "web-search-2025-03-05",
]);

/** The names of a call's header, which is one list. */
export const betasOf = ({ "anthropic-beta": names }: IncomingHttpHeaders): string[] =>
  typeof names === "string" ? names.split(",").map((name) => name.trim()) : [];

export const servesClaude = (path: string): boolean => path === DIRECT || VERTEX.test(path);

/**
 * Returns the body as the vendor's own path takes it. Throws `FaceRefusal` for a call without credentials, or not in
 * its envelope.
 */
export function unwrapped(body: unknown, path: string, headers: IncomingHttpHeaders): unknown {
  const [, encoded, method] = VERTEX.exec(path) ?? [];
  const bearer = headers.authorization?.startsWith("Bearer ") === true;
  if (encoded === undefined) {
    if (!bearer && headers["x-api-key"] === undefined && headers["api-key"] === undefined)
      throw new FaceRefusal("x-api-key header is required", { status: 401 });
    if (headers["anthropic-version"] === undefined)
      throw new FaceRefusal("anthropic-version: header is required");
    return body;
  }
  const model = decodeURIComponent(encoded);
  const refuse = (message: string, status = 400): never => {
    throw new FaceRefusal(message, { status, model });
  };
  if (!bearer) refuse("Request is missing required authentication credential.", 401);
  if (typeof body !== "object" || body === null) return refuse("Invalid JSON payload received.");
  if ("model" in body) refuse("model: Extra inputs are not permitted");
  const { anthropic_version: version, ...call } = body as Record<string, unknown>;
  const strange = betasOf(headers).find((name) => !VERTEX_BETAS.has(name));
  if (strange !== undefined) refuse(`Unexpected value(s) \`${strange}\` for the \`anthropic-beta\` header.`);
  if (version !== VERTEX_VERSION) refuse(`anthropic_version: Input should be '${VERTEX_VERSION}'`);
  if ((call["stream"] === true) !== (method === "streamRawPredict"))
    refuse(`stream: does not go with the method ${method}`);
  return { model, ...call };
}
