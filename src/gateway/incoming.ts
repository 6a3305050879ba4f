// What the front door passes to the gateway: bytes and headers of one request, nothing specific to HTTP.
import type { Credential } from "../domain/credential.ts";
import type { Format, HeaderOf } from "./formats/format.ts";
import type { RequestTrace } from "./trace.ts";

export interface Incoming {
  /** The format of the surface that was called. */
  format: Format;
  /** Our id, `req_…`; also in `x-request-id`. */
  requestId: string;
  /** Wall clock at arrival, milliseconds. */
  receivedAtMs: number;
  /** Null if it is not traced. */
  trace: RequestTrace | null;
  /** The header; or a credential that another door vouches for (the playground, by its session). */
  authorization: string | Credential | null;
  idempotencyKey: string | null;
  /** Reads the surface's own headers. */
  header: HeaderOf;
  /** `Last-Event-ID`: resumes a keyed stream after this event. */
  lastEventId: string | null;
  /** Checks media type and declared size from the headers; throws `Refusal` 415 or 413. */
  checkBody(): void;
  /**
   * Reads the whole body within the limits, into room of this organization; throws `Refusal` 413, 429 or 503. Called only for a
   * verified key.
   */
  readBody(organizationId: string): Promise<Uint8Array>;
  /** Aborts when the client's socket closes. */
  signal: AbortSignal;
}
