// Parses the text of a price table so that each number keeps its exact literal.
import { readDecimal, type Decimal } from "./decimal.ts";
import { CatalogueError } from "./catalogue-error.ts";
import { isTwice, withRepeats } from "./twice.ts";

/** A number as written. */
class Literal {
  constructor(readonly source: string) {}
}

/** Any value of a table; `memberOf` and its neighbours access members without trusting the data. */
export type Json = unknown;
export type Members = Readonly<Record<string, Json>>;

/** Throws `CatalogueError` for text that is not JSON or is nested too deeply. */
export function readTableJson(text: string, name: string): Json {
  try {
    const value: unknown = JSON.parse(text, ((_: string, value: unknown, { source }: { source: string }) =>
      typeof value === "number" ? new Literal(source) : value) as (key: string, value: unknown) => unknown);
    return withRepeats(text, value);
  } catch (error) {
    const reason = error instanceof RangeError ? "it is nested too deeply" : String(error);
    throw new CatalogueError(
      `${name} is not JSON that can be read: ${reason}`,
      "Fetch the table again, or leave out --from for the snapshot that ships with this program.",
    );
  }
}

/** True for an object of the table: not a list, a number, or an object that repeats a name. */
export const isMembered = (value: Json): value is Members =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Literal) &&
  !isTwice(value);

/** Own members only: nothing is inherited. */
export const memberOf = (of: Json, name: string): Json =>
  isMembered(of) && Object.hasOwn(of, name) ? of[name] : undefined;

/** Empty for anything but an object. */
export const membersOf = (value: Json): [string, Json][] => (isMembered(value) ? Object.entries(value) : []);
/** Empty for anything but a list. */
export const itemsOf = (value: Json): readonly Json[] => (Array.isArray(value) ? value : []);
/** The strings of a list; other items are ignored. */
export const stringsOf = (value: Json): string[] =>
  itemsOf(value).filter((one): one is string => typeof one === "string");
/** Null for anything but a string. */
export const stringOf = (value: Json): string | null => (typeof value === "string" ? value : null);

/** Null for anything but a finite number of 0 or more. */
export const decimalOf = (value: Json): Decimal | null =>
  value instanceof Literal ? readDecimal(value.source) : null;

/** How a damaged value is shown to people. */
export const shown = (value: Json): string =>
  inert(value instanceof Literal ? value.source : String(JSON.stringify(value)));

const SHOWN_MAX = 80;
/**
 * Makes foreign text safe for a terminal or a comment: no control characters, no line break, limited length.
 */
export function inert(text: string): string {
  const plain = text.replace(/[\p{C}\p{Z}]+/gu, " ");
  return plain.length > SHOWN_MAX ? `${plain.slice(0, SHOWN_MAX)}…` : plain;
}
