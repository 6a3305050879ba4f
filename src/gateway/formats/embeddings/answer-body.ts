// The body of an answer with vectors: OpenAI's list, with what was billed. The numbers go through as the provider wrote them,
// unless they came in the other encoding than the caller asked for.
import type { Answer } from "../../../providers/provider.ts";
import { vectorsIn } from "../../../providers/openai/vectors.ts";
import type { AnswerFigures, AnswerHead } from "../format.ts";
import type { VectorEncoding } from "./parse-embeddings-request.ts";

interface AskedVectors {
  inputs: number;
  encoding: VectorEncoding;
}

/** Prints the whole body. */
export function printVectors(
  { model }: AnswerHead,
  { native }: Answer,
  { usage, gateway, inputs, encoding }: AnswerFigures & AskedVectors,
): string {
  if (typeof native !== "string") throw new Error("vectors without the text that they came in");
  const data = vectorsIn(native, inputs).list.map(
    (vector, index) => `{"object":"embedding","index":${index},"embedding":${inEncoding(vector, encoding)}}`,
  );
  const tokens = usage.promptTokens;
  return (
    `{"object":"list","data":[${data.join(",")}],"model":${JSON.stringify(model)}` +
    `,"usage":{"prompt_tokens":${tokens},"total_tokens":${tokens}},"gateway":${gateway}}`
  );
}

/** Some upstreams know one encoding only: base64 is that of 32-bit floats, the lowest byte first. */
function inEncoding(vector: string, encoding: VectorEncoding): string {
  if (vector.startsWith('"') === (encoding === "base64")) return vector;
  if (encoding === "base64") {
    const numbers = Float32Array.from(JSON.parse(vector) as number[]);
    return `"${Buffer.from(numbers.buffer).toString("base64")}"`;
  }
  const bytes = Uint8Array.from(Buffer.from(vector.slice(1, -1), "base64"));
  return JSON.stringify([...new Float32Array(bytes.buffer, 0, bytes.length >> 2)]);
}
