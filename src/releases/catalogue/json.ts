// The text of a price table, read so that each number keeps the very literal that stood there.
import { readDecimal, type Decimal } from "./decimal.ts";
import { CatalogueError } from "./catalogue-error.ts";
import { isTwice, withRepeats } from "./twice.ts";

/** A number as it was written. */
class Literal {
  constructor(readonly source: string) {}
}

/** Whatever a table holds; members are asked for by `objectIn` and its neighbours, which trust nothing. */
export type Json = unknown;
export type Members = Readonly<Record<string, Json>>;

/** Throws `CatalogueError` for what is no JSON or is nested without end. */
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

/** An object of the table: no list, no number, and none whose names stand twice. */
export const isMembered = (value: Json): value is Members =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Literal) &&
  !isTwice(value);

/** Only what the table itself says: nothing is inherited. */
export const memberOf = (of: Json, name: string): Json =>
  isMembered(of) && Object.hasOwn(of, name) ? of[name] : undefined;

/** None of anything but an object. */
export const membersOf = (value: Json): [string, Json][] => (isMembered(value) ? Object.entries(value) : []);
/** None of anything but a list. */
export const itemsOf = (value: Json): readonly Json[] => (Array.isArray(value) ? value : []);
/** The texts in a list; whatever else is in it is passed over. */
export const stringsOf = (value: Json): string[] =>
  itemsOf(value).filter((one): one is string => typeof one === "string");
/** Null for anything but a text. */
export const stringOf = (value: Json): string | null => (typeof value === "string" ? value : null);

/** Null for anything but a number that is 0 or more and finite. */
export const decimalOf = (value: Json): Decimal | null =>
  value instanceof Literal ? readDecimal(value.source) : null;

/** How a damaged value is named to people. */
export const shown = (value: Json): string =>
  inert(value instanceof Literal ? value.source : String(JSON.stringify(value)));

const SHOWN_MAX = 80;
/** Foreign text for a terminal or a comment: no control characters, no end of line, not long. */
export function inert(text: string): string {
  const plain = text.replace(/[\p{C}\p{Z}]+/gu, " ");
  return plain.length > SHOWN_MAX ? `${plain.slice(0, SHOWN_MAX)}…` : plain;
}
