// A value that satisfies a JSON schema, the same one each time: what a simulated tool call or structured answer holds.

type Schema = Record<string, unknown>;

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Depth is bounded, for schemas that name themselves. */
export function valueOf(schema: unknown, depth = 0): unknown {
  if (!isSchema(schema) || depth > 16) return "text";
  if ("const" in schema) return schema["const"];
  if (Array.isArray(schema["enum"]) && schema["enum"].length > 0) return schema["enum"][0] as unknown;
  for (const word of ["anyOf", "oneOf", "allOf"]) {
    const branches = schema[word];
    if (Array.isArray(branches) && branches.length > 0) return valueOf(branches[0], depth + 1);
  }
  switch (typeOf(schema)) {
    case "object":
      return objectOf(schema, depth);
    case "array":
      return schema["minItems"] === 0 ? [] : [valueOf(schema["items"], depth + 1)];
    case "integer":
    case "number":
      return typeof schema["minimum"] === "number" ? Math.ceil(schema["minimum"]) : 1;
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return typeof schema["minLength"] === "number" ? "text".padEnd(schema["minLength"], "t") : "text";
  }
}

function typeOf(schema: Schema): string {
  const { type } = schema;
  if (Array.isArray(type)) return String(type.find((word) => word !== "null") ?? "null");
  if (typeof type === "string") return type;
  return isSchema(schema["properties"]) ? "object" : "string";
}

function objectOf(schema: Schema, depth: number): Schema {
  const properties = isSchema(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"])
    ? schema["required"].map(String)
    : Object.keys(properties);
  return Object.fromEntries(required.map((name) => [name, valueOf(properties[name], depth + 1)]));
}
