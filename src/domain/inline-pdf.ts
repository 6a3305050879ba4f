// A PDF in a request, as base64: the checks of every surface, and access for every wire shape.
import type { InlineFile } from "./chat-request.ts";
import { invalid, type Place, refuse } from "./read-value.ts";

/** The prefix of `file_data`. */
const INLINE_PDF = "data:application/pdf;base64,";

const DATA_URL = /^data:([^;,]*)((?:;[^;,]*)*),/i;
/** The media type is at the start; the rest may be megabytes. */
const HEAD_LENGTH = 256;
/** Base64 of `%PDF-`; the last of these characters also holds two bits of what follows. */
const MAGIC = /^JVBERi[0-3]/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const NAME_LENGTH_MAX = 256;

/** The name of a file that has none: some providers require one. */
const NAMELESS = "document.pdf";

/** The base64 text of a file. */
export const pdfBytes = ({ file_data: data }: InlineFile): string => data.slice(INLINE_PDF.length);

/** Throws `Refusal` at `step` of the place unless the URL is `data:application/pdf;base64,…` of a PDF. */
export function inlinePdf(url: string, name: string | null, at: Place, step: string): InlineFile {
  const [head, type = "", how = ""] = DATA_URL.exec(url.slice(0, HEAD_LENGTH)) ?? [];
  if (head === undefined)
    throw invalid(at, step, `must be inline \`${INLINE_PDF}…\`: files are not fetched from URLs.`);
  if (type.toLowerCase() !== "application/pdf")
    throw refuse("unsupported_value", at, step, `must be a PDF, \`${INLINE_PDF}…\`.`);
  if (how.toLowerCase() !== ";base64") throw invalid(at, step, `must be base64, \`${INLINE_PDF}…\`.`);
  return pdfOf(url.slice(head.length), name, at, step);
}

/** The same, given only the base64 text. */
function pdfOf(data: string, name: string | null, at: Place, step: string): InlineFile {
  if (data.length % 4 !== 0 || !BASE64.test(data))
    throw invalid(at, step, "is not valid base64: letters, digits, + and /, padded with =.");
  if (!MAGIC.test(data)) throw invalid(at, step, "is not a PDF: its bytes do not begin with `%PDF-`.");
  const filename = (name ?? "").trim() === "" ? NAMELESS : (name ?? NAMELESS);
  if (filename.length > NAME_LENGTH_MAX)
    throw refuse(
      "string_above_max_length",
      at,
      "filename",
      `may have at most ${NAME_LENGTH_MAX} characters.`,
    );
  return { filename, file_data: INLINE_PDF + data };
}
