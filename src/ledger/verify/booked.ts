// Entries of a kind beside the requests that name their transaction: what the sums of both stores compare (I6 of money.md §5).

export interface Booked {
  txn: string;
  /** When the requests say that it was; null where they do not say. */
  at: string | null;
  amount: string;
  which: string;
}

/** When a request ended, and in which transaction. */
export const ENDED = { txn: "closed_txn", at: "ended_at" } as const;

/** The first and the last instant of a group, in SQL; nothing where no column says it. */
export const instantsOf = (column: string | null): string =>
  column === null ? "''" : `min(${column}) || '-' || max(${column})`;
