// One HTTP exchange, as handlers see it.

export interface HttpContext {
  request: Request;
  /** Our id, `req_…`; on every response as `x-request-id`. */
  requestId: string;
  /** Wall clock at arrival, milliseconds. */
  receivedAtMs: number;
  /** The path with repeated slashes folded, still percent-encoded. */
  path: string;
  /** What matched the pattern's `*`, percent-decoded once; "" for exact paths. */
  rest: string;
  query: URLSearchParams;
  /** The peer's address as the socket reports it. */
  peer: string | null;
  /** The organization whose key the request proved, for the access log; null before that, and for everybody else. */
  org: string | null;
  /** The client's address: as reported by trusted proxies, else the peer's. */
  address: string | null;
  /** Seconds of silence after which the socket is closed, until the answer is handed over; 0: never. */
  setIdleTimeout(this: void, seconds: number): void;
  /**
   * Called when the answer is handed over: from then on `seconds` of silence close the socket. The returned function is called at
   * its end.
   */
  sending(this: void, seconds: number): () => void;
}

export type Handler = (context: HttpContext) => Response | Promise<Response>;
