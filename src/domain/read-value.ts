// The vocabulary for reading request bodies (wire.md §1): one reader per JSON type, each returning the typed value or throwing a
// Refusal whose `param` is the path of the offending field. Paths are built only on refusal, so an accepted request pays nothing
// for them.
import { Refusal, type RefusalCode } from "./refusals.ts";

/** An object parsed from JSON; read by known field only, never merged or copied whole (hardening.md S21). */
export type JsonObject = Record<string, unknown>;

/** The place of a value in the body: a step below its parent; `null` is the body itself. */
export type Place = { readonly parent: Place; readonly step: string | number } | null;

/** Inclusive bounds of a number. */
export interface Range {
  min: number;
  max: number;
}

const ECHO_LENGTH = 64;
/** Words that some clients take for a rate limit wherever they appear (wire.md §4.3). */
const MISREAD = /429|rate.?limit/i;

/** True for objects other than arrays and null. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Null counts as absent everywhere (wire.md). */
export const isPresent = (value: unknown): value is NonNullable<unknown> =>
  value !== undefined && value !== null;

/** Quotes caller text in a message: at most 64 characters, and nothing that a client would take for a rate limit. */
export function echo(text: string): string {
  return MISREAD.test(text) ? "this value" : `\`${clip(text)}\``;
}

/** Cuts caller text to 64 characters; never ends in half a surrogate pair. */
export const clip = (text: string): string =>
  text.length <= ECHO_LENGTH ? text : text.slice(0, ECHO_LENGTH).replace(/[\ud800-\udbff]$/, "");

/** Prints a path as clients know it: `messages[2].content[0].image_url.url`. */
export function paramPath(at: Place, step: string | number): string {
  if (at === null) return String(step);
  const parent = paramPath(at.parent, at.step);
  return typeof step === "number" ? `${parent}[${step}]` : `${parent}.${step}`;
}

/** Refuses the field `step` of `at`; the message is the field's path followed by `text`. */
export function refuse(code: RefusalCode, at: Place, step: string | number, text: string): Refusal {
  const param = paramPath(at, step);
  return new Refusal(code, `${MISREAD.test(param) ? "This field" : `\`${param}\``} ${text}`, { param });
}

/** Refuses a value that the field does not accept. */
export const invalid = (at: Place, step: string | number, text: string): Refusal =>
  refuse("invalid_request", at, step, text);

/** Each of these throws a `Refusal` of the field for a value of another type. */
export function readObject(value: unknown, at: Place, step: string | number): JsonObject {
  if (isJsonObject(value)) return value;
  throw invalid(at, step, `must be an object, ${found(value)}.`);
}

export function readArray(value: unknown, at: Place, step: string | number): unknown[] {
  if (Array.isArray(value)) return value;
  throw invalid(at, step, `must be an array, ${found(value)}.`);
}

export function readString(value: unknown, at: Place, step: string | number): string {
  if (typeof value === "string") return value;
  throw invalid(at, step, `must be a string, ${found(value)}.`);
}

/** A string of at most `max` characters. */
export function readBoundedString(value: unknown, at: Place, step: string | number, max: number): string {
  const text = readString(value, at, step);
  if (text.length <= max) return text;
  throw refuse("string_above_max_length", at, step, `may have at most ${max} characters.`);
}

export function readBoolean(value: unknown, at: Place, step: string | number): boolean {
  if (typeof value === "boolean") return value;
  throw invalid(at, step, `must be true or false, ${found(value)}.`);
}

/** An integer of any range; `1.0` is 1 and `-0` is 0. */
export function readInteger(value: unknown, at: Place, step: string | number): number {
  if (typeof value === "number" && Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  throw invalid(at, step, `must be an integer, ${found(value)}.`);
}

export function readNumber(value: unknown, at: Place, step: string | number): number {
  if (typeof value === "number") return value === 0 ? 0 : value;
  throw invalid(at, step, `must be a number, ${found(value)}.`);
}

/** Refuses a number outside its range with the code of its kind, `integer_…` or `decimal_…`. */
export function requireRange(value: number, range: Range, kind: "integer" | "decimal", name: string): void {
  if (value < range.min)
    throw refuse(`${kind}_below_min_value`, null, name, `must be at least ${range.min}. ${LEAVE_OUT}`);
  if (value > range.max)
    throw refuse(`${kind}_above_max_value`, null, name, `must be at most ${range.max}. ${LEAVE_OUT}`);
}

/** One of a closed list of strings. */
export function readChoice<const T extends string>(
  value: unknown,
  choices: readonly T[],
  at: Place,
  step: string | number,
): T {
  const text = readString(value, at, step);
  for (const choice of choices) if (choice === text) return choice;
  throw refuse(
    "unsupported_value",
    at,
    step,
    `must be one of ${list(choices)}; ${echo(text)} is not supported.`,
  );
}

/** Prints `"a", "b"` for messages. */
export const list = (choices: readonly string[]): string =>
  choices.map((choice) => JSON.stringify(choice)).join(", ");

const LEAVE_OUT = "Leave the field out for the default.";

/** Describes what came instead, for a message: its JSON type, never its content. */
export function found(value: unknown): string {
  if (value === undefined || value === null) return "but it is missing";
  if (Array.isArray(value)) return "not an array";
  if (typeof value === "number" && !Number.isInteger(value)) return "not a fraction";
  return `not ${typeof value === "object" ? "an object" : `a ${typeof value}`}`;
}
