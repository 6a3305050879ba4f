// PDFs as the simulator's model reads them: a fixed number of tokens for each page, whatever its content
// (docs/simulator.md).
import { pdfPages } from "../../lib/pdf-pages.ts";
import { FaceRefusal } from "./face.ts";

const TOKENS_PER_PAGE = 258;

/**
 * Returns the tokens of documents in base64. Throws `FaceRefusal` for one without pages, as every vendor does in its
 * own words.
 */
export function documentTokens(documents: readonly string[], { model }: { model: string }): number {
  let tokens = 0;
  for (const base64 of documents) {
    const bytes = Buffer.from(base64, "base64");
    const pages = bytes.toString("latin1", 0, 5) === "%PDF-" ? pdfPages(bytes) : null;
    if (pages === null) throw new FaceRefusal("The document has no pages.", { model });
    tokens += pages * TOKENS_PER_PAGE;
  }
  return tokens;
}
