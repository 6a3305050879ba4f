// What one wire shape knows, and nothing else: how a call is printed, authenticated and read. The call itself (one
// HTTP request, its connect probe, timers, bounds, and the proof that nothing ran) is in `http/`, the same for all
// shapes (wire.md §8).
import type { NativeShape } from "../domain/native-body.ts";
import type { JsonObject } from "../domain/read-value.ts";
import type { OptionalField } from "../domain/request-fields.ts";
import type { Failure, FailureCause } from "./failure.ts";
import type { BodyText } from "../domain/written-lists.ts";
import type { CallDraft, CountCall, OutgoingBody, Part, ProviderCall } from "./provider.ts";

/** One of our requests before it is authenticated. */
export interface Outgoing {
  url: string;
  method: "POST" | "GET";
  headers: Record<string, string>;
  /** Exactly what is sent; absent for a probe. */
  body?: BodyText;
}

/**
 * Returns the headers that authenticate a call, made from the request as it is sent: a key, a token that is renewed
 * when due, a signature of the body. Their values are redacted from every word that is kept. If it throws a
 * `Failure`, nothing was sent, whatever that `Failure` says.
 */
export interface Authorize {
  (outgoing: Outgoing, signal: AbortSignal): Record<string, string> | Promise<Record<string, string>>;
  /** Called when the upstream rejected the headers with 401. */
  refused?(): void;
}

export interface Codec<Event> {
  /** The optional request fields that this upstream supports. */
  readonly fields: readonly OptionalField[];
  /** The upper end of its temperature range, if that is not 2. */
  readonly temperatureMax?: number;
  /** True if it accepts files: PDFs, inline. */
  readonly files?: boolean;
  /** The shapes in which a caller's body can pass through unchanged; `prepare` says for each body whether it does. */
  readonly speaks?: readonly NativeShape[];
  /** The response header with the upstream's request id, for records. */
  readonly idHeader: string;
  /** Builds the body of a call from validated fields only; what it prints is what is priced. */
  prepare(draft: CallDraft): OutgoingBody;
  /**
   * Returns the path of a call below the base URL, and the headers of its shape. Other headers are added to them. The
   * body is `call.body`.
   */
  target(call: ProviderCall): { path: string; headers: Record<string, string> };
  /** How a prompt is counted free of charge: where the call goes, and its answer, or null if that is not a count. */
  readonly counting?: {
    target(call: CountCall): { path: string; headers: Record<string, string> };
    read(text: string): number | null;
  };
  readonly authorize: Authorize;
  /** Returns a splitter of one response into events. */
  framing(): Framing<Event>;
  /** Returns a reader of one answer, whole or streamed. */
  reader(call: ProviderCall): AnswerReader<Event>;
  /**
   * Returns the failure for a whole answer that exceeds all bounds because the caller asked for that much; null (or
   * no such method) blames the upstream.
   */
  tooLarge?(call: ProviderCall): Failure | null;
  /** Reads the body of an error response; never throws. */
  readError(text: string): UpstreamError;
}

export interface Framing<Event> {
  /**
   * Returns the events that these bytes complete. Throws `Failure` for a malformed or endless event; events that end
   * before it in the same bytes are returned first. What it keeps is bounded.
   */
  push(bytes: Uint8Array): Event[];
  /** Called at the end of the bytes: returns the last event if only its terminator is missing. */
  rest?(): Event[];
}

export interface AnswerReader<Event> {
  /** The upstream's id of the answer; null until it has sent one. */
  readonly id: string | null;
  /**
   * True once the model has produced anything, even if nothing of it is handed over: a sealed thought, the start of a
   * block, reported output tokens. An error after that proves nothing (money.md §2).
   */
  readonly began: boolean;
  /** True once every requested choice has finished. */
  readonly complete: boolean;
  /** True once one of several choices has finished. */
  readonly partly?: boolean;
  /** True if what it reads is handed over only at the end; until then each event shows that the model is working. */
  readonly holdsBack?: boolean;
  /** True once the upstream has reported usage, complete or not. */
  readonly usageTold: boolean;
  /** The vectors of a whole answer (`Answer`). */
  readonly vectors?: readonly string[];
  /**
   * Appends the parts of one event, in order; usage each time it is reported, as the figures of the whole answer so
   * far. Finishes wait for `close`. Throws `Failure` for what cannot be read; parts before it count as delivered.
   */
  event(event: Event, parts: Part[]): EventEnd;
  /** Appends the parts of a whole body with status 200. Throws `Failure` if it is not an answer, or holds an error. */
  whole(text: string, parts: Part[]): void;
  /** The event that was read last, for a reader whose events are passed on as they come. */
  readonly lastEvent?: JsonObject;
  /** Returns an event as it is passed on to a caller of this shape: what must come back to this provider only is marked. */
  passOn?(text: string): string;
  /** Returns the whole body as it is passed on to a caller of this shape, marked like its events. */
  told?(): JsonObject;
  /** Appends what ends a complete answer: citations and finishes. Throws `Failure` for a broken answer. */
  close(parts: Part[]): void;
}

/** `done`: nothing of this answer follows. An error: the upstream reported one inside its stream. Null: continue. */
export type EventEnd = "done" | UpstreamError | null;

/**
 * An error as the upstream reported it. Every vendor's wording is converted to this before anything is concluded from
 * it.
 */
export interface UpstreamError {
  /** The HTTP status that the error itself names, inside a stream; 0 = none. */
  status: number;
  /** The upstream's own codes for the kind of error, joined. */
  code: string;
  message: string;
  /** The request field that it names, by the caller's name for it (wire.md §1.1); null = none. */
  param: string | null;
  /** Its place in the body that was sent, in the vendor's own words, if they differ. */
  place?: string;
  /** The delay before a retry that the error itself names; headers are read for all shapes alike. */
  retryAfterMs: number | null;
  /** The cause, if the status and the wording that all shapes share do not tell it (money.md §2: this may be proof). */
  cause?: FailureCause;
}
