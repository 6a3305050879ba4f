// Text and reasoning of a message or delta, in the spellings that providers of the OpenAI shape use (wire.md §8.2).
import { isJsonObject } from "../../domain/read-value.ts";

/** Returns the answer's text: a string, or the text parts of an array (Mistral). */
export function readText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: unknown) => (isJsonObject(part) && part["type"] === "text" ? textOf(part["text"]) : ""))
    .join("");
}

/**
 * Returns the reasoning beside the text; only the first spelling that is present counts, so that copies are not
 * doubled.
 */
export function readReasoning(message: Record<string, unknown>): string {
  const plain = textOf(message["reasoning_content"]) || textOf(message["reasoning"]);
  if (plain !== "") return plain;
  const details = message["reasoning_details"];
  if (Array.isArray(details)) return details.map(detailText).join("");
  return Array.isArray(message["content"]) ? message["content"].map(thinkingText).join("") : "";
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const detailText = (detail: unknown): string =>
  isJsonObject(detail) ? textOf(detail["text"]) || textOf(detail["summary"]) : "";

function thinkingText(part: unknown): string {
  if (!isJsonObject(part) || part["type"] !== "thinking") return "";
  const { thinking } = part;
  return Array.isArray(thinking) ? readText(thinking) : textOf(thinking);
}
