// What the front door hands to the gateway: bytes and headers of one request, nothing of HTTP's machinery.
import type { Credential } from "../contract/credential.ts";

export interface Incoming {
  /** Ours, `req_…`; also in `x-request-id`. */
  requestId: string;
  /** Wall clock at arrival, milliseconds. */
  receivedAtMs: number;
  /** The header; or a credential that another door vouches for (the playground, by its session). */
  authorization: string | Credential | null;
  idempotencyKey: string | null;
  /** `Last-Event-ID`: resumes a keyed stream after this event. */
  lastEventId: string | null;
  /** Reads the whole body within the limits; throws `Refusal` 415 or 413. Called only after the key's shape is good. */
  readBody(): Promise<Uint8Array>;
  /** Aborts when the client's socket closes. */
  signal: AbortSignal;
}
