// The content of an item of a Responses request: a string, or a list of the parts that its role may carry.
import type { ContentPart } from "../../../domain/chat-request.ts";
import {
  echo,
  found,
  invalid,
  isPresent,
  type JsonObject,
  list,
  type Place,
  readChoice,
  readObject,
  readString,
  refuse,
} from "../../../domain/read-value.ts";
import { inlinePdf } from "../../../domain/inline-pdf.ts";
import { placed } from "../../../domain/part-place.ts";
import { requireImageUrl } from "../chat-completions/parse-image-url.ts";

export type Speaker = "system" | "developer" | "user" | "assistant" | "tool";

const PARTS_OF: Record<Speaker, readonly string[]> = {
  system: ["input_text"],
  developer: ["input_text"],
  user: ["input_text", "input_image", "input_file"],
  assistant: ["output_text", "refusal", "input_text"],
  tool: ["input_text", "input_image", "input_file"],
};
const DETAILS = ["auto", "low", "high", "original"] as const;

/** Reads the value at `step` of the item. */
export function parseItemContent(
  value: unknown,
  speaker: Speaker,
  { at, step }: { at: Place; step: string },
): string | ContentPart[] {
  if (typeof value === "string") return value;
  if (!Array.isArray(value))
    throw invalid(at, step, `must be a string or an array of parts, ${found(value)}.`);
  if (value.length === 0) return "";
  const parts: Place = { parent: at, step };
  return value.map((part: unknown, index) =>
    parsePart(readObject(part, parts, index), speaker, { parent: parts, step: index }),
  );
}

function parsePart(part: JsonObject, speaker: Speaker, at: NonNullable<Place>): ContentPart {
  const type = readString(part.type, at, "type");
  if (!PARTS_OF[speaker].includes(type))
    throw refuse(
      "unsupported_value",
      at,
      "type",
      `${echo(type)} is not supported here; send one of ${list(PARTS_OF[speaker])}.`,
    );
  switch (type) {
    case "input_image":
      return parseImage(part, at);
    case "input_file":
      return parsePdf(part, at);
    case "refusal":
      return { type: "refusal", refusal: readString(part.refusal, at, "refusal") };
    default:
      return { type: "text", text: readString(part.text, at, "text") };
  }
}

function parseImage(part: JsonObject, at: NonNullable<Place>): ContentPart {
  refuseStored(part, at, "Send `image_url`.");
  const url = readString(part.image_url, at, "image_url");
  requireImageUrl(url, at, "image_url");
  const detail = isPresent(part.detail) ? readChoice(part.detail, DETAILS, at, "detail") : null;
  return placed(
    { type: "image_url", image_url: { url, ...(detail !== null && { detail }) } },
    { part: at, data: { parent: at, step: "image_url" } },
  );
}

function parsePdf(part: JsonObject, at: NonNullable<Place>): ContentPart {
  refuseStored(part, at, "Send its bytes as `file_data`.");
  if (isPresent(part.file_url))
    throw refuse(
      "unsupported_parameter",
      at,
      "file_url",
      "is not supported: files are not fetched. Send its bytes as `file_data`.",
    );
  const name = isPresent(part.filename) ? readString(part.filename, at, "filename") : null;
  const file = inlinePdf(readString(part.file_data, at, "file_data"), name, at, "file_data");
  return placed({ type: "file", file }, { part: at, data: { parent: at, step: "file_data" } });
}

function refuseStored(part: JsonObject, at: Place, instead: string): void {
  if (isPresent(part.file_id))
    throw refuse(
      "unsupported_parameter",
      at,
      "file_id",
      `names an uploaded file, but no files are stored here. ${instead}`,
    );
}
