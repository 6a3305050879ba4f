// Reads what arrived into a schema's fields, for the operator API and the dashboard's.
import type { z } from "zod";
import { Refusal, type RefusalCode } from "../domain/refusals.ts";

/** The value as its schema reads it. Throws `Refusal` with the first offending field; an unknown field is one. */
export function readFields<Schema extends z.ZodObject>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value, { error: required });
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

const required: z.core.$ZodErrorMap = ({ code, input }) =>
  code === "invalid_type" && input === undefined ? "is required" : undefined;

type Issue = z.core.$ZodIssue | undefined;

const firstPath = (issue: Issue): string | null => (issue?.path.length ? issue.path.join(".") : null);

function codeOf(issue: Issue): RefusalCode {
  if (issue?.code === "too_big" && issue.origin === "string") return "string_above_max_length";
  return issue?.code === "invalid_value" ? "unsupported_value" : "invalid_request";
}
