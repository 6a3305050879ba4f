// The form of the answer that the caller asks for (wire.md §1.1). Whether the release can give it is decided later,
// in `releases/fit.ts`.
import type { ResponseFormat } from "../../../domain/chat-request.ts";
import { readName, readNotes } from "./parse-tools.ts";
import { isPresent, type Place, readChoice, readObject } from "../../../domain/read-value.ts";

const AT: Place = { parent: null, step: "response_format" };
type JsonSchemaFormat = Extract<ResponseFormat, { type: "json_schema" }>["json_schema"];

/** Reads `response_format`; plain text is the default, so it is null. */
export function parseResponseFormat(value: unknown): ResponseFormat | null {
  const format = readObject(value, null, "response_format");
  switch (readChoice(format.type, ["text", "json_object", "json_schema"], AT, "type")) {
    case "text":
      return null;
    case "json_object":
      return { type: "json_object" };
    case "json_schema":
      return { type: "json_schema", json_schema: parseJsonSchema(format.json_schema) };
  }
}

function parseJsonSchema(value: unknown): JsonSchemaFormat {
  const at: Place = { parent: AT, step: "json_schema" };
  const given = readObject(value, AT, "json_schema");
  const format: JsonSchemaFormat = { name: readName(given.name, at), ...readNotes(given, at) };
  if (isPresent(given.schema)) format.schema = readObject(given.schema, at, "schema");
  return format;
}
