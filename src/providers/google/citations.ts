// Converts the grounding of one choice to citations in OpenAI's shape: the pages behind stretches of the text. Gemini
// counts places in bytes: they are passed on as characters if the text so far is ASCII, and are 0 otherwise.
import { isJsonObject } from "../../domain/read-value.ts";

/** Returns annotations as `Annotations` reads them; a page without an address yields nothing there. */
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

/** Returns the number of searches that the vendor made, each of which it charges; null if it reports none. */
export function searchesOf(metadata: Record<string, unknown>): number | null {
  const queries = list(metadata["webSearchQueries"]);
  return queries.length > 0 ? queries.length : null;
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
