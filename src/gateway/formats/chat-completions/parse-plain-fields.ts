// Top-level fields of this format whose value is more than one number, string or switch, and less than a module of its own (wire.md
// §1.1): model, stop, stream_options, metadata, modalities, prompt_cache_options.
import { isArrayOfIntegers, rawTokenIds } from "./parse-content.ts";
import {
  clip,
  found,
  invalid,
  isJsonObject,
  isPresent,
  type JsonObject,
  type Place,
  readArray,
  readBoolean,
  readBoundedString,
  readObject,
  readString,
  refuse,
} from "../../../domain/read-value.ts";
import { unreadMembers } from "../unread-members.ts";

const MAX_MODEL_LENGTH = 200;
const MAX_STOPS = 4;
const MAX_STOP_LENGTH = 1024;
const METADATA = { pairs: 16, keyLength: 64, valueLength: 512 };

/** A model's public id; whether it exists is checked later. */
export function parseModel(value: unknown): string {
  const model = readBoundedString(value, null, "model", MAX_MODEL_LENGTH);
  if (model !== "") return model;
  throw invalid(null, "model", "must not be empty. GET /v1/models lists the ids.");
}

/** One to four strings; a single string counts as a list of one, `[]` as absent. */
export function parseStop(value: unknown): string[] {
  if (isArrayOfIntegers(value)) throw rawTokenIds(null, "stop");
  if (typeof value !== "string" && !Array.isArray(value))
    throw invalid(
      null,
      "stop",
      `must be a string or an array of up to ${MAX_STOPS} strings, ${found(value)}.`,
    );
  const items: unknown[] = typeof value === "string" ? [value] : value;
  if (items.length > MAX_STOPS)
    throw refuse("array_above_max_length", null, "stop", `may have at most ${MAX_STOPS} strings.`);
  const at: Place = { parent: null, step: "stop" };
  return items.map((item, index) => {
    const stop = readBoundedString(item, at, index, MAX_STOP_LENGTH);
    if (stop === "") throw invalid(at, index, "must not be empty. Remove it.");
    return stop;
  });
}

/** The stream options; `ignored`: those that are never applied. */
export function parseStreamOptions(value: unknown): { includeUsage: boolean; ignored: string[] } {
  const options = readObject(value, null, "stream_options");
  const includeUsage = readSwitch(options, "include_usage");
  const obfuscation = readSwitch(options, "include_obfuscation");
  const unread = unreadMembers("stream_options", options, ["include_usage", "include_obfuscation"]);
  return {
    includeUsage,
    ignored: [...(obfuscation ? ["stream_options.include_obfuscation"] : []), ...unread],
  };
}

function readSwitch(options: JsonObject, name: string): boolean {
  const value = options[name];
  return isPresent(value) && readBoolean(value, { parent: null, step: "stream_options" }, name);
}

/** Checks the caller's own notes, which are sent nowhere; returns their number. */
export function countMetadata(value: unknown): number {
  const entries = Object.entries(readObject(value, null, "metadata"));
  if (entries.length > METADATA.pairs)
    throw invalid(null, "metadata", `may have at most ${METADATA.pairs} pairs.`);
  const at: Place = { parent: null, step: "metadata" };
  for (const [key, note] of entries) {
    if (key.length > METADATA.keyLength)
      throw refuse(
        "string_above_max_length",
        at,
        clip(key),
        `may have at most ${METADATA.keyLength} characters.`,
      );
    if (readString(note, at, key).length > METADATA.valueLength)
      throw refuse(
        "string_above_max_length",
        at,
        key,
        `may have at most ${METADATA.valueLength} characters.`,
      );
  }
  return entries.length;
}

/** Only `["text"]`, the default, is supported. */
export function requireTextModality(value: unknown): void {
  const modalities = readArray(value, null, "modalities");
  if (modalities.length === 1 && modalities[0] === "text") return;
  throw refuse("unsupported_value", null, "modalities", 'must be ["text"]: no other modality is supported.');
}

/** How caches are filled is up to the provider; but whoever only wants to fill one would pay for an answer here. */
export function requireNoPrewarming(options: unknown): void {
  if (!isJsonObject(options) || options["prewarm"] !== true) return;
  const at: Place = { parent: null, step: "prompt_cache_options" };
  throw refuse(
    "unsupported_value",
    at,
    "prewarm",
    "must be false: every call has an answer here, which is paid for.",
  );
}
