import type { Visitor } from "../people/people.ts";

/** The HTTP exchange behind a call of the dashboard: for answers that stream, and for cookies. */
export interface Exchange {
  visitor: Visitor;
  request: Request;
  requestId: string;
  receivedAtMs: number;
  idempotencyKey: string | null;
  /** Whether this call would be let in again, now: for an answer that goes on for minutes. */
  stands(this: void): Promise<boolean>;
  /** Set on the answer. */
  cookies: string[];
  /** Seconds of silence after which the socket is closed, until the answer is handed over; 0 = never. */
  setIdleTimeout(this: void, seconds: number): void;
  /** The answer goes on when it is handed over, with so many seconds of silence; what is returned is told of its end. */
  sending(this: void, seconds: number): () => void;
}
