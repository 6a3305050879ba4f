// Reads what arrived into a schema's fields, for the operator API and the dashboard's API.
import type { z } from "zod";
import { counted } from "../domain/counted.ts";
import { Refusal, type RefusalCode } from "../domain/refusals.ts";

/** The value as its schema reads it. Throws `Refusal` for the first offending field; an unknown field is one. */
export function readFields<Schema extends z.ZodObject>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value, { error: inWords });
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  if (issue?.code === "unrecognized_keys") {
    const param = [...issue.path, issue.keys[0]].join(".");
    throw new Refusal("unknown_parameter", `There is no field ${JSON.stringify(param.slice(0, 100))} here.`, {
      param,
    });
  }
  const param = firstPath(issue);
  throw new Refusal(codeOf(issue), `${param ?? "The input"}: ${issue?.message ?? "is not acceptable"}`, {
    param,
  });
}

/** Describes what does not fit and what would, if a schema has no message of its own; follows the field's name. */
const inWords: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === "invalid_type")
    return issue.input === undefined ? "is required" : `must be ${TYPES[issue.expected] ?? issue.expected}`;
  if (issue.code === "invalid_value")
    return `must be ${issue.values.length === 1 ? "" : "one of "}${issue.values.map(String).join(", ")}`;
  if (issue.code === "too_big") return bound("at most", Number(issue.maximum), issue.origin);
  return issue.code === "too_small" ? bound("at least", Number(issue.minimum), issue.origin) : undefined;
};

const TYPES: Partial<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

const bound = (how: string, limit: number, origin: string): string =>
  origin === "string"
    ? `must have ${how} ${counted(limit, "character")}`
    : origin === "array"
      ? `must have ${how} ${counted(limit, "entry", "entries")}`
      : `must be ${how} ${limit}`;

type Issue = z.core.$ZodIssue | undefined;

const firstPath = (issue: Issue): string | null => (issue?.path.length ? issue.path.join(".") : null);

function codeOf(issue: Issue): RefusalCode {
  if (issue?.code === "too_big" && issue.origin === "string") return "string_above_max_length";
  return issue?.code === "invalid_value" ? "unsupported_value" : "invalid_request";
}
