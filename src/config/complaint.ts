// Complaints about settings, each with the place where the operator wrote the value (S11).
import type { Override } from "./overrides.ts";
import type { Path, Problem, SettingsFile } from "./settings-file.ts";

interface Issue {
  code?: string | undefined;
  path: PropertyKey[];
  message: string;
  keys?: string[];
}

/** Zod reports unknown fields in `keys`, beside the path of their parent. */
export function readIssue(issue: Issue): Problem[] {
  const path = issue.path.filter((step) => typeof step !== "symbol");
  if (issue.code !== "unrecognized_keys") return [{ path, message: issue.message }];
  return (issue.keys ?? []).map((key) => ({ path: [...path, key], message: "there is no such setting" }));
}

/** `tollgate.yaml:7: listen.port`, or `listen.port (from PORT)`. */
export function describePlace(
  at: Path,
  from: { path: string | null; file: SettingsFile; overrides: Override[] },
): string {
  const field = at.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? step : `${text}.${step}`;
  }, "");
  const override = from.overrides.findLast(({ path }) => path.join(".") === field);
  if (override !== undefined) return `${field} (from ${override.source})`;
  if (from.path === null) return field;
  const line = field === "" ? null : nearestLine(at, from.file);
  return [from.path, line, field && ` ${field}`].filter((part) => part !== null && part !== "").join(":");
}

function nearestLine(at: Path, file: SettingsFile): number | null {
  for (let length = at.length; length > 0; length--) {
    const line = file.lineOf(at.slice(0, length));
    if (line !== null) return line;
  }
  return null;
}
