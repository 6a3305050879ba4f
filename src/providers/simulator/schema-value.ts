// Returns a value that satisfies a JSON schema, the same one each time, for simulated tool calls and structured
// answers. A caller wrote the schema, so the value is small whatever the schema requires.
import { isJsonObject, type JsonObject } from "../../domain/read-value.ts";

const DEPTH_MAX = 16;
const TEXT_LENGTH_MAX = 4096;
/** The bound on one value: its members plus the characters that its texts must have. */
const ROOM = 16_384;

interface Place {
  depth: number;
  room: { left: number };
}

/** Satisfies the schema as far as the bounds allow. */
export const valueOf = (schema: unknown): unknown => filled(schema, { depth: 0, room: { left: ROOM } });

function filled(schema: unknown, { depth, room }: Place): unknown {
  room.left -= 1;
  if (!isJsonObject(schema) || depth > DEPTH_MAX) return "text";
  const below = { depth: depth + 1, room };
  if ("const" in schema) return schema["const"];
  if (Array.isArray(schema["enum"]) && schema["enum"].length > 0) return schema["enum"][0] as unknown;
  for (const word of ["anyOf", "oneOf", "allOf"]) {
    const branches = schema[word];
    if (Array.isArray(branches) && branches.length > 0) return filled(branches[0], below);
  }
  switch (typeOf(schema)) {
    case "object":
      return objectOf(schema, below);
    case "array":
      return schema["minItems"] === 0 ? [] : [filled(schema["items"], below)];
    case "integer":
    case "number":
      return typeof schema["minimum"] === "number" ? Math.ceil(schema["minimum"]) : 1;
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return textOf(schema, room);
  }
}

function typeOf(schema: JsonObject): string {
  const { type } = schema;
  if (Array.isArray(type)) return String(type.find((word) => word !== "null") ?? "null");
  if (typeof type === "string") return type;
  return isJsonObject(schema["properties"]) ? "object" : "string";
}

function textOf({ minLength }: JsonObject, room: Place["room"]): string {
  if (typeof minLength !== "number") return "text";
  const length = Math.max(0, Math.min(minLength, TEXT_LENGTH_MAX, room.left));
  room.left -= length;
  return "text".padEnd(length, "t");
}

function objectOf(schema: JsonObject, below: Place): JsonObject {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"])
    ? schema["required"].map(String)
    : Object.keys(properties);
  const members: [string, unknown][] = [];
  for (const name of new Set(required)) {
    if (below.room.left <= 0) break;
    members.push([name, filled(properties[name], below)]);
  }
  return Object.fromEntries(members);
}
