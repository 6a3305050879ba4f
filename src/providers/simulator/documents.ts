// PDFs as the simulator's model reads them: so many tokens for each page, whatever it says (docs/simulator.md).
import { pdfPages } from "../../lib/pdf-pages.ts";
import { FaceRefusal } from "./face.ts";

const TOKENS_PER_PAGE = 258;

/** Tokens of documents in base64. Throws `FaceRefusal` for one without pages, as every vendor does in words of its own. */
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
