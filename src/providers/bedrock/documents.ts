// Files in Converse's form: each with a unique name in the characters that the API allows, and within its size limit
// (wire.md §8.2).
import type { InlineFile } from "../../domain/chat-request.ts";
import { pdfBytes } from "../../domain/inline-pdf.ts";
import { refuse } from "../../domain/read-value.ts";

export interface DocumentBlock {
  format: "pdf";
  name: string;
  source: { bytes: string };
}

const DOCUMENTS_MAX = 5;
const BYTES_MAX = 4_500_000;
const NAME_LENGTH_MAX = 200;
/** The part of a name that leaves room for a number after it. */
const STEM_LENGTH = NAME_LENGTH_MAX - 10;
const NAMELESS = "document";

/** Throws `Refusal` for a file that is too large for the API. */
export function documentOf(file: InlineFile): DocumentBlock {
  const bytes = pdfBytes(file);
  if ((bytes.length / 4) * 3 > BYTES_MAX)
    throw refuse(
      "unsupported_value",
      null,
      "messages",
      `holds a file of more than ${BYTES_MAX / 1_000_000} MB, which this model does not take. Send part of it.`,
    );
  return { format: "pdf", name: plainName(file.filename), source: { bytes } };
}

/**
 * Returns the name without its extension, which the format says. Characters that the API does not allow become single
 * blanks.
 */
function plainName(filename: string): string {
  const words = filename.replace(/\.pdf$/i, "").replaceAll(/[^A-Za-z0-9\-()[\]]+/g, " ");
  return words.slice(0, STEM_LENGTH).trim() || NAMELESS;
}

/** Returns the document under a name that is not taken yet. Throws `Refusal` if the API accepts no more documents. */
export function namedApart(document: DocumentBlock, taken: Set<string>): DocumentBlock {
  if (taken.size >= DOCUMENTS_MAX)
    throw refuse(
      "unsupported_value",
      null,
      "messages",
      `hold more than ${DOCUMENTS_MAX} files, which this model does not take. Send fewer.`,
    );
  let { name } = document;
  for (let number = 2; taken.has(name); number++) name = `${document.name} (${number})`;
  taken.add(name);
  return { ...document, name };
}
