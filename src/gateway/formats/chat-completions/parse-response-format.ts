// The requested form of the answer (wire.md §1.1). Whether the release supports it is decided later, in `releases/fit.ts`.
import type { ResponseFormat } from "../../../domain/chat-request.ts";
import { readName, readNotes } from "./parse-tools.ts";
import {
  isPresent,
  type JsonObject,
  type Place,
  readChoice,
  readObject,
} from "../../../domain/read-value.ts";
import { unreadMembers } from "../unread-members.ts";

const AT: Place = { parent: null, step: "response_format" };
type JsonSchemaFormat = Extract<ResponseFormat, { type: "json_schema" }>["json_schema"];

/** The members of a schema that are read. */
export const OF_SCHEMA = ["name", "description", "schema", "strict"] as const;

/** Reads `response_format`; null for plain text, the default. `ignored`: paths of members without a meaning here. */
export function parseResponseFormat(value: unknown): { format: ResponseFormat | null; ignored: string[] } {
  const given = readObject(value, null, "response_format");
  const ignored = unreadMembers("response_format", given, ["type", "json_schema"]);
  const format = readResponseFormat(given, AT, () => {
    const schema = readObject(given.json_schema, AT, "json_schema");
    ignored.push(...unreadMembers("response_format.json_schema", schema, OF_SCHEMA));
    return readJsonSchema(schema, { parent: AT, step: "json_schema" });
  });
  return { format, ignored };
}

/** The same for a surface that puts it elsewhere: `readSchema` reads the form that has a schema. */
export function readResponseFormat(
  format: JsonObject,
  at: Place,
  readSchema: (format: JsonObject) => JsonSchemaFormat,
): ResponseFormat | null {
  switch (readChoice(format.type, ["text", "json_object", "json_schema"], at, "type")) {
    case "text":
      return null;
    case "json_object":
      return { type: "json_object" };
    case "json_schema":
      return { type: "json_schema", json_schema: readSchema(format) };
  }
}

/** Reads a schema with its name and notes. */
export function readJsonSchema(given: JsonObject, at: Place): JsonSchemaFormat {
  const format: JsonSchemaFormat = { name: readName(given.name, at), ...readNotes(given, at) };
  if (isPresent(given.schema)) format.schema = readObject(given.schema, at, "schema");
  return format;
}
