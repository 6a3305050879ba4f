// One HTTP exchange as handlers see it.

export interface HttpContext {
  request: Request;
  /** Ours, `req_…`; on every response as `x-request-id`. */
  requestId: string;
  /** Wall clock at arrival, milliseconds. */
  receivedAtMs: number;
  /** Path with slashes folded, still percent-encoded. */
  path: string;
  /** What follows the pattern's `*`, percent-decoded once; "" for exact paths. */
  rest: string;
  query: URLSearchParams;
  /** The peer's address as the socket says it. */
  peer: string | null;
  /** The client's: what trusted proxies say of it, else the peer's. */
  address: string | null;
  /** Seconds of silence after which the socket is closed, until the answer is handed over; 0 = never. */
  setIdleTimeout(this: void, seconds: number): void;
  /** The answer goes on when it is handed over, with so many seconds of silence; what is returned is told of its end. */
  sending(this: void, seconds: number): () => void;
}

export type Handler = (context: HttpContext) => Response | Promise<Response>;
