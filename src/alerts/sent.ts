// The outcome of one try to send a message.

export type Sent =
  /** The receiver accepted it. */
  | { kind: "delivered"; status: number }
  /** Not this time: retried with growing pauses. */
  | { kind: "failed"; status: number | null; error: string }
  /** Never: not retried. */
  | { kind: "refused"; status: number | null; error: string };

/** The time limit of a receiver, from the beginning of a try to its end. */
export const TRY_MS = 10_000;
