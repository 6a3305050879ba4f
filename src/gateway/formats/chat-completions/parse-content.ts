// The `content` of one message: a string, or an array of the parts that its role may carry (wire.md §1.2). Unknown keys are
// dropped.
import type { ContentPart, ImageDetail, Role } from "../../../domain/chat-request.ts";
import { cacheMark } from "./parse-cache-mark.ts";
import { parseFile } from "./parse-file.ts";
import { requireImageUrl } from "./parse-image-url.ts";
import {
  echo,
  found,
  invalid,
  isJsonObject,
  isPresent,
  type JsonObject,
  list,
  type Place,
  readChoice,
  readObject,
  readString,
  refuse,
} from "../../../domain/read-value.ts";
import type { Refusal } from "../../../domain/refusals.ts";

type PartType = ContentPart["type"];

const PARTS_OF_ROLE: Record<Role, readonly PartType[]> = {
  system: ["text"],
  developer: ["text"],
  user: ["text", "image_url", "file"],
  assistant: ["text", "refusal"],
  tool: ["text"],
};

const IMAGE_DETAILS = ["auto", "low", "high", "original"] as const;

/** Reads the content of a message at `at`; null only for null or a missing value, which the caller judges. */
export function parseContent(value: unknown, role: Role, at: Place): string | ContentPart[] | null {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? null : parseParts(value, role, at);
}

function parseParts(value: unknown, role: Role, at: Place): ContentPart[] {
  if (!Array.isArray(value))
    throw invalid(at, "content", `must be a string or an array of parts, ${found(value)}.`);
  if (value.length === 0)
    throw invalid(at, "content", "must not be an empty array. Send a string or at least one part.");
  if (isArrayOfIntegers(value)) throw rawTokenIds(at, "content");
  const parts: Place = { parent: at, step: "content" };
  return value.map((part: unknown, index) => parsePart(part, role, { parent: parts, step: index }));
}

/** Token ids in place of text; an empty list does not count. */
export const isArrayOfIntegers = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((item) => Number.isInteger(item));

/** 400 `raw_token_ids_not_allowed`: what is counted and screened must be text. */
export const rawTokenIds = (at: Place, step: string): Refusal =>
  refuse("raw_token_ids_not_allowed", at, step, "contains token ids, which are not accepted. Send text.");

function parsePart(value: unknown, role: Role, at: NonNullable<Place>): ContentPart {
  if (!isJsonObject(value))
    throw invalid(at.parent, at.step, `must be an object with a \`type\`, ${found(value)}.`);
  switch (partType(value, role, at)) {
    case "text":
      return { type: "text", text: readString(value.text, at, "text"), ...cacheMark(value) };
    case "refusal":
      return { type: "refusal", refusal: readString(value.refusal, at, "refusal") };
    case "image_url":
      return { type: "image_url", image_url: parseImage(value.image_url, at), ...cacheMark(value) };
    case "file":
      return { type: "file", file: parseFile(value.file, at), ...cacheMark(value) };
  }
}

function partType(part: JsonObject, role: Role, at: Place): PartType {
  const open = PARTS_OF_ROLE[role];
  const type = readString(part.type, at, "type");
  const known = open.find((candidate) => candidate === type);
  if (known !== undefined) return known;
  const text = `${echo(type)} is not supported in ${role} messages; send one of ${list(open)}.`;
  throw refuse("unsupported_value", at, "type", text);
}

function parseImage(value: unknown, part: Place): { url: string; detail?: ImageDetail } {
  const at: Place = { parent: part, step: "image_url" };
  const image = readObject(value, part, "image_url");
  const url = readString(image.url, at, "url");
  requireImageUrl(url, at);
  if (!isPresent(image.detail)) return { url };
  return { url, detail: readChoice(image.detail, IMAGE_DETAILS, at, "detail") };
}
