// What a gateway's shell reads of a request's headers; the lean shell and the table of parts read the same.
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
