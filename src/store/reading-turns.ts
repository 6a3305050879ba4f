// Turns at the store's readers: every statement waits until it is its party's turn, so that an organization that
// asks much delays another by the one statement that runs (docs/decisions/0093-reads-take-turns.md).
import { Lines } from "../lib/lines.ts";
import type { ReadingApart, Sql } from "./sql.ts";

/** Whose statement it is. */
export interface Asker {
  /** An organization; all operators together; or a person, outside of organizations. */
  party: string;
  /** The person or key; they take turns within their party. */
  by: string;
  /** Aborts when nobody waits for the answer any more: what has not begun is not read. */
  signal?: AbortSignal | undefined;
}

/** The store's readers, for everybody who reads. */
export interface ReadingTurns {
  /** The readers as this asker has them. */
  as(asker: Asker): Sql;
  /** Rejects everything that still waits. */
  stop(): Promise<void>;
}

/** One place: all parties read from the same store. */
const STORE = "store";

export function readingInTurns(reading: ReadingApart): ReadingTurns {
  const { abreast } = reading;
  // A lane stays free of any one party, as far as there are several: whoever comes next need not wait for a long read.
  const lines = new Lines(abreast, { eachParty: Math.max(1, abreast - 1) });
  return {
    as: ({ party, by, signal }) => ({
      ...reading,
      rows: (text, ...values) =>
        lines.run({ place: STORE, party, by, signal }, () => reading.rows(text, ...values)),
    }),
    stop: () => reading.stop(),
  };
}
