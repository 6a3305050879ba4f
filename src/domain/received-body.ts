// The bytes of a request's body, and what they are made of: scanned once, before it is parsed, for the memory that it takes and
// for reading it strictly (`parse-json.ts`).
import { type Outline, outlineOf } from "./json-outline.ts";
import { ListSpans } from "./list-spans.ts";
import { Refusal } from "./refusals.ts";

/** Most object members and values in a body; a list or an object counts as two values. */
export const FIELDS_MAX = 250_000;
export const VALUES_MAX = 500_000;

/**
 * Bytes for each value and each member, beside their text. Measured: 200,000 messages take 33 bytes each, and three for each
 * byte of text; an empty object, which counts as two, takes 72 where it is kept once.
 */
const VALUE_BYTES = 16;
/** What smaller bodies say is printed: it takes some microseconds. */
const WRITTEN_BYTES_MIN = 16 * 1024;

export class ReceivedBody {
  /** Undefined until it is asked for. */
  private scanned: Outline | null | undefined;
  /** Where the lists of a large body are, once it was scanned; null for any other. */
  readonly spans: ListSpans | null;

  constructor(readonly bytes: Uint8Array) {
    this.spans = bytes.byteLength < WRITTEN_BYTES_MIN ? null : new ListSpans();
  }

  /** Null: it has more members or values than any body may have (`tooManyValues`). For a body that is not JSON it means nothing. */
  outline(): Outline | null {
    if (this.scanned === undefined)
      this.scanned = outlineOf(this.bytes, { members: FIELDS_MAX, values: VALUES_MAX, lists: this.spans });
    return this.scanned;
  }

  /**
   * Bytes of memory that a body of one JSON text takes once it is read: its text, plus something for each value, however short,
   * because a body of empty objects becomes thirty times as large (decision 86). Null as `outline`. For a body that is not JSON,
   * what it weighs until that is found out.
   */
  weight(): number | null {
    const outline = this.outline();
    return outline && this.bytes.byteLength + VALUE_BYTES * (outline.members + outline.values);
  }
}

/** 400 `too_many_values`. */
export const tooManyValues = (): Refusal =>
  new Refusal(
    "too_many_values",
    `The body has more than ${FIELDS_MAX} fields, or ${VALUES_MAX} values (a list or an object counts as two). Send fewer, larger ones.`,
  );
