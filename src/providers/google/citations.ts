// Grounding of one choice as citations in OpenAI's shape: the pages that stand behind stretches of the text. Gemini counts
// places in bytes: they are told as characters where that is the same, and left at 0 where it is not.
import { isJsonObject } from "../../domain/read-value.ts";

/** What `Annotations` reads; nothing of what has no address. */
export function groundingAnnotations(metadata: Record<string, unknown>, ascii: boolean): unknown[] {
  const chunks = list(metadata["groundingChunks"]).map((chunk) =>
    isJsonObject(chunk) ? chunk["web"] : null,
  );
  const supports = list(metadata["groundingSupports"]).filter(isJsonObject);
  if (supports.length === 0) return chunks.map((web) => annotation(web, {}));
  return supports.flatMap(({ segment, groundingChunkIndices }) =>
    list(groundingChunkIndices).map((index) =>
      annotation(chunks[Number(index)], ascii && isJsonObject(segment) ? segment : {}),
    ),
  );
}

function annotation(web: unknown, { startIndex, endIndex }: Record<string, unknown>): unknown {
  const { uri: url, title } = isJsonObject(web) ? web : {};
  return {
    type: "url_citation",
    url_citation: { start_index: startIndex, end_index: endIndex, url, title },
  };
}

/** Searches that the vendor made, each of which it charges; null where it told of none. */
export function searchesOf(metadata: Record<string, unknown>): number | null {
  const queries = list(metadata["webSearchQueries"]);
  return queries.length > 0 ? queries.length : null;
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
