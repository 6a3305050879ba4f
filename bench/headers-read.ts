// The request headers that a gateway's shell reads; the lean shell and the table of parts read the same.
export const HEADERS_READ = [
  "authorization",
  "content-type",
  "content-length",
  "content-encoding",
  "idempotency-key",
  "last-event-id",
  "host",
  "origin",
  "x-stainless-retry-count",
] as const;
