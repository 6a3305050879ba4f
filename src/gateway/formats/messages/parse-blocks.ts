// Blocks that the model reads (text, images, documents, search results) as the neutral parts of a message.
import type { ContentPart, InlineFile } from "../../../domain/chat-request.ts";
import { inlinePdf } from "../../../domain/inline-pdf.ts";
import { placed } from "../../../domain/part-place.ts";
import {
  echo,
  found,
  invalid,
  isJsonObject,
  isPresent,
  type JsonObject,
  list,
  type Place,
  readArray,
  readBoundedString,
  readChoice,
  readObject,
  readString,
  refuse,
} from "../../../domain/read-value.ts";
import { cacheMark } from "../chat-completions/parse-cache-mark.ts";
import { requireImageUrl } from "../chat-completions/parse-image-url.ts";

type At = NonNullable<Place>;
export type ReadablePart = Extract<ContentPart, { type: "text" | "image_url" | "file" }>;

const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;
const READABLE = ["text", "image", "document", "search_result"] as const;
/** In tool results: a tool that was found may be referred to by its name. */
const OF_RESULTS = [...READABLE, "tool_reference"] as const;
const NAME_LENGTH_MAX = 256;

/** The objects of an array of blocks, each with its place. */
export function blocksOf(value: unknown, at: Place, step: string): { block: JsonObject; at: At }[] {
  const parent: Place = { parent: at, step };
  return readArray(value, at, step).map((block, index) => {
    if (!isJsonObject(block))
      throw invalid(parent, index, `must be an object with a \`type\`, ${found(block)}.`);
    return { block, at: { parent, step: index } };
  });
}

/** The parts of one of the user's blocks. */
export const readablePart = (block: JsonObject, at: At): ReadablePart[] => partsOf(block, at, READABLE);

/** The parts of a tool result's `content`: a text, blocks, or nothing. */
export function resultParts(content: unknown, at: Place): ReadablePart[] {
  if (!isPresent(content)) return [];
  if (typeof content === "string") return [{ type: "text", text: content }];
  return blocksOf(content, at, "content").flatMap(({ block, at: place }) =>
    partsOf(block, place, OF_RESULTS),
  );
}

function partsOf(block: JsonObject, at: At, open: readonly string[]): ReadablePart[] {
  const type = readString(block.type, at, "type");
  if (!open.includes(type))
    throw refuse(
      "unsupported_value",
      at,
      "type",
      `${echo(type)} is not supported here; send one of ${list(open)}.`,
    );
  switch (type) {
    case "text":
      return [textPart(block, at)];
    case "image":
      return [imagePart(block, at)];
    case "document":
      return documentParts(block, at);
    case "search_result":
      return searchResult(block, at);
    default:
      return [
        { type: "text", text: readBoundedString(block["tool_name"], at, "tool_name", NAME_LENGTH_MAX) },
      ];
  }
}

/** A text block, with its cache mark; throws `Refusal` with the place in `param`. */
export const textPart = (block: JsonObject, at: At): ReadablePart => ({
  type: "text",
  text: readString(block["text"], at, "text"),
  ...cacheMark(block),
});

function imagePart(block: JsonObject, at: At): ReadablePart {
  const source = readObject(block.source, at, "source");
  const inside: At = { parent: at, step: "source" };
  const part = { type: "image_url" as const, image_url: { url: imageUrl(source, inside) } };
  const data = { parent: inside, step: source.type === "url" ? "url" : "data" };
  return placed({ ...part, ...cacheMark(block) }, { part: at, data });
}

function imageUrl(source: JsonObject, at: At): string {
  if (readChoice(source.type, ["base64", "url"], at, "type") === "url") {
    const url = readString(source["url"], at, "url");
    if (/^data:/i.test(url))
      throw invalid(at, "url", "must be an `https:` URL. Send inline bytes as a `base64` source.");
    requireImageUrl(url, at);
    return url;
  }
  const media = readChoice(source["media_type"], IMAGE_TYPES, at, "media_type");
  const data = readString(source["data"], at, "data");
  if (!/^[\w+/=-]/.test(data)) throw invalid(at, "data", "must be the image's bytes in base64.");
  return `data:${media};base64,${data}`;
}

/** A document: a PDF, plain text, or blocks. */
function documentParts(block: JsonObject, parent: At): ReadablePart[] {
  const at: Place = { parent, step: "source" };
  const source = readObject(block["source"], parent, "source");
  const textOf = (name: string): string | null =>
    isPresent(block[name]) ? readString(block[name], parent, name) : null;
  const [title, context] = [textOf("title"), textOf("context")];
  const type = readChoice(source.type, ["base64", "text", "content"], at, "type");
  const head = type === "base64" ? [context] : [title, context];
  const inside = ((): ReadablePart[] => {
    switch (type) {
      case "base64":
        return [
          placed(
            { type: "file", file: pdfIn(source, title, at) },
            { part: parent, data: { parent: at, step: "data" } },
          ),
        ];
      case "text":
        return [{ type: "text", text: readString(source["data"], at, "data") }];
      case "content":
        return resultParts(source["content"], at);
    }
  })();
  const words = head.flatMap((text): ReadablePart[] => (text === null ? [] : [{ type: "text", text }]));
  return marked([...words, ...inside], block);
}

function pdfIn(source: JsonObject, title: string | null, at: At): InlineFile {
  readChoice(source["media_type"], ["application/pdf"], at, "media_type");
  const data = readString(source["data"], at, "data");
  return inlinePdf(`data:application/pdf;base64,${data}`, title, at, "data");
}

function searchResult(block: JsonObject, at: At): ReadablePart[] {
  const head = ["title", "source"].map((name) => readString(block[name], at, name)).join("\n");
  const inside = blocksOf(block["content"], at, "content").map((one) => textPart(one.block, one.at));
  return marked([{ type: "text", text: head }, ...inside], block);
}

/** The mark of the whole block goes on its last part. */
export function marked(parts: ReadablePart[], block: JsonObject): ReadablePart[] {
  const last = parts.at(-1);
  if (last !== undefined) Object.assign(last, cacheMark(block));
  return parts;
}
