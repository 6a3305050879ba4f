// Complaints about settings (S11): each names the place where the operator wrote the value, and says which values are
// allowed.
import type { z } from "zod";
import type { Override } from "./overrides.ts";
import type { Path, Problem, SettingsFile } from "./settings-file.ts";

const KINDS: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number, without quotes or unit",
  string: "text in quotes",
  boolean: "true or false",
  array: "a list",
  object: "a group of settings",
  record: "a group of settings",
};
const NUMBERS = new Set(["int", "number"]);

/** Returns the complaint about a value whose setting has no message of its own; undefined = the library's message. */
export function settingError(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === "invalid_type") {
    if (issue.input === undefined) return "is required";
    const kind = KINDS[issue.expected];
    return kind && `must be ${kind}`;
  }
  if (issue.code === "invalid_value")
    return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.map(String).join(", ")}`;
  if (issue.code === "too_small" && NUMBERS.has(issue.origin))
    return `must be ${issue.inclusive === false ? `above ${issue.minimum}` : `${issue.minimum} or more`}`;
  if (issue.code === "too_big" && NUMBERS.has(issue.origin))
    return `must be ${issue.inclusive === false ? `below ${issue.maximum}` : `${issue.maximum} or less`}`;
  return undefined;
}

/**
 * True for the complaint that a number exceeds the largest integer, if the setting's own bound is exceeded too: only
 * that is reported.
 */
const beyondAnyInteger = ({ code, maximum }: Issue, all: readonly Issue[]): boolean =>
  code === "too_big" &&
  maximum === Number.MAX_SAFE_INTEGER &&
  all.some((other) => other.code === "too_big" && other.maximum !== maximum);

/** Returns all problems, in the order of the settings. */
export const readIssues = (issues: readonly Issue[]): Problem[] =>
  issues
    .filter((issue) => {
      const here = issues.filter(({ path }) => path.join(".") === issue.path.join("."));
      return !beyondAnyInteger(issue, here);
    })
    .flatMap(readIssue);

export const NO_SUCH_SETTING = "there is no such setting";

interface Issue {
  code?: string | undefined;
  path: PropertyKey[];
  message: string;
  keys?: string[];
  maximum?: unknown;
}

/** Zod reports unknown fields in `keys`, beside the path of their parent. */
function readIssue(issue: Issue): Problem[] {
  const path = issue.path.filter((step) => typeof step !== "symbol");
  if (issue.code !== "unrecognized_keys") return [{ path, message: issue.message }];
  return (issue.keys ?? []).map((key) => ({ path: [...path, key], message: NO_SUCH_SETTING }));
}

/** Returns a path as text: `providers[0].api_key`. */
export const fieldOf = (at: Path): string =>
  at.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? step : `${text}.${step}`;
  }, "");

/** Returns where a value was set: `tollgate.yaml:7: listen.port`, or `listen.port (from PORT)`. */
export function describePlace(
  at: Path,
  from: { path: string | null; file: SettingsFile; overrides: Override[]; line?: number | undefined },
): string {
  const field = fieldOf(at);
  const override = from.overrides.findLast(({ path }) => path.join(".") === field);
  if (override !== undefined) return `${field} (from ${override.source})`;
  if (from.path === null) return field;
  const line = from.line ?? (field === "" ? null : nearestLine(at, from.file));
  return [from.path, line, field && ` ${field}`].filter((part) => part !== null && part !== "").join(":");
}

function nearestLine(at: Path, file: SettingsFile): number | null {
  for (let length = at.length; length > 0; length--) {
    const line = file.lineOf(at.slice(0, length));
    if (line !== null) return line;
  }
  return null;
}
