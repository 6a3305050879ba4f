// A file part (wire.md §1.2): a PDF in the request itself. Uploaded files and URLs are refused: the gateway stores no files and
// fetches none.
import type { InlineFile } from "../../../domain/chat-request.ts";
import { inlinePdf } from "../../../domain/inline-pdf.ts";
import { isPresent, type Place, readObject, readString, refuse } from "../../../domain/read-value.ts";

/** Reads `file` of the part at `part`. */
export function parseFile(value: unknown, part: Place): InlineFile {
  const at: Place = { parent: part, step: "file" };
  const file = readObject(value, part, "file");
  if (isPresent(file.file_id))
    throw refuse(
      "unsupported_parameter",
      at,
      "file_id",
      "names an uploaded file, but no files are stored here. Send its bytes as `file_data`.",
    );
  const name = isPresent(file.filename) ? readString(file.filename, at, "filename") : null;
  return inlinePdf(readString(file.file_data, at, "file_data"), name, at, "file_data");
}
