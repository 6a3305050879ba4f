// The body of an answer with vectors: OpenAI's list, with what was billed. The numbers are passed on as the provider wrote them,
// unless they came in another encoding than the caller requested.
import type { Answer } from "../../../providers/provider.ts";
import type { AnswerFigures, AnswerHead } from "../format.ts";
import type { VectorEncoding } from "./parse-embeddings-request.ts";

/** Prints the whole body. */
export function printVectors(
  { model }: AnswerHead,
  { vectors }: Answer,
  { usage, gateway, encoding }: AnswerFigures & { encoding: VectorEncoding },
): string {
  if (vectors === undefined) throw new Error("an answer without vectors");
  const data = vectors.map(
    (vector, index) => `{"object":"embedding","index":${index},"embedding":${inEncoding(vector, encoding)}}`,
  );
  const tokens = usage.promptTokens;
  return (
    `{"object":"list","data":[${data.join(",")}],"model":${JSON.stringify(model)}` +
    `,"usage":{"prompt_tokens":${tokens},"total_tokens":${tokens}},"gateway":${gateway}}`
  );
}

/** Some upstreams know one encoding only. Base64 holds 32-bit floats, little-endian. */
function inEncoding(vector: string, encoding: VectorEncoding): string {
  if (vector.startsWith('"') === (encoding === "base64")) return vector;
  if (encoding === "base64") {
    const numbers = Float32Array.from(JSON.parse(vector) as number[]);
    return `"${Buffer.from(numbers.buffer).toString("base64")}"`;
  }
  const bytes = Uint8Array.from(Buffer.from(vector.slice(1, -1), "base64"));
  return JSON.stringify([...new Float32Array(bytes.buffer, 0, bytes.length >> 2)]);
}
