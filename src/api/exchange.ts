import type { Visitor } from "../people/people.ts";

/** The HTTP exchange behind a call of the dashboard: for answers that stream, and for cookies. */
export interface Exchange {
  visitor: Visitor;
  request: Request;
  requestId: string;
  receivedAtMs: number;
  idempotencyKey: string | null;
  /** True if this call would still be admitted now: for responses that last for minutes. */
  stands(this: void): Promise<boolean>;
  /** Set on the response. */
  cookies: string[];
  /** The seconds of silence after which the socket is closed, until the response is returned; 0 = never. */
  setIdleTimeout(this: void, seconds: number): void;
  /**
   * For a response that continues after it is returned, with the allowed seconds of silence; call the
   * returned function at its end.
   */
  sending(this: void, seconds: number): () => void;
}
