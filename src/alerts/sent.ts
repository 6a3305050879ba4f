// How one try to send a message ended, whichever way it went.

export type Sent =
  /** Its receiver took it. */
  | { kind: "delivered"; status: number }
  /** Not this time: tried again with growing pauses. */
  | { kind: "failed"; status: number | null; error: string }
  /** Not at any time. */
  | { kind: "refused"; status: number | null; error: string };

/** How long a receiver has, from the beginning of a try to its end. */
export const TRY_MS = 10_000;
