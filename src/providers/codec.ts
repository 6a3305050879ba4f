// What one wire shape knows, and nothing else: how a call is printed, proven and read. The call itself — one HTTP request,
// its connect probe, timers, bounds, and what proves that nothing ran — is `http/`, the same for all (wire.md §8).
import type { NativeShape } from "../domain/native-body.ts";
import type { JsonObject } from "../domain/read-value.ts";
import type { OptionalField } from "../domain/request-fields.ts";
import type { Failure, FailureCause } from "./failure.ts";
import type { CallDraft, CountCall, OutgoingBody, Part, ProviderCall } from "./provider.ts";

/** A request of ours as it stands before anything proves whose it is. */
export interface Outgoing {
  url: string;
  method: "POST" | "GET";
  headers: Record<string, string>;
  /** Exactly what is sent; none of a probe. */
  body?: string;
}

/**
 * Headers that prove whose call this is, made over the request as it goes out: a key, a token that is renewed when it is
 * due, a signature of the body. What they hold is taken out of every word that is kept. Nothing was sent when it throws
 * a `Failure`, whatever that says of itself.
 */
export interface Authorize {
  (outgoing: Outgoing, signal: AbortSignal): Record<string, string> | Promise<Record<string, string>>;
  /** The upstream did not take it: 401. */
  refused?(): void;
}

export interface Codec<Event> {
  /** Optional fields of a caller that this upstream can be told. */
  readonly fields: readonly OptionalField[];
  /** Upper end of its temperature, where that is not 2. */
  readonly temperatureMax?: number;
  /** It takes files: PDFs, inline. */
  readonly files?: boolean;
  /** Shapes in which a caller's body goes through as it is; `prepare` says of each body whether it does. */
  readonly speaks?: readonly NativeShape[];
  /** The header of a reply that names its request, for records. */
  readonly idHeader: string;
  /** The body of a call, of validated fields only; what it prints is what is priced. */
  prepare(draft: CallDraft): OutgoingBody;
  /** Where a call goes, below the base URL, and the headers of its shape, made for it: others join them. The body is `call.body`. */
  target(call: ProviderCall): { path: string; headers: Record<string, string> };
  /** Where a prompt is counted for nothing: the address of such a call, and its answer, null for what is none. */
  readonly counting?: {
    target(call: CountCall): { path: string; headers: Record<string, string> };
    read(text: string): number | null;
  };
  readonly authorize: Authorize;
  /** Splits one reply into events. */
  framing(): Framing<Event>;
  /** Reads one answer, whole or as a stream of events. */
  reader(call: ProviderCall): AnswerReader<Event>;
  /** What a whole answer beyond all bounds means where the caller asked for that much; else the upstream is unwell. */
  tooLarge?(call: ProviderCall): Failure | null;
  /** What the body of a refusing reply says; never throws. */
  readError(text: string): UpstreamError;
}

export interface Framing<Event> {
  /**
   * The events that ended in these bytes. Throws `Failure` for what is none, or has no end; what ended before it in the
   * same bytes is given out first. Bounded in what it keeps.
   */
  push(bytes: Uint8Array): Event[];
  /** At the end of the bytes: the event that is whole but for what should have ended it. */
  rest?(): Event[];
}

export interface AnswerReader<Event> {
  /** The upstream's own id of the answer, once it said one. */
  readonly id: string | null;
  /**
   * The model has put something out, be it nothing that is handed over: a sealed thought, a block that has begun, output tokens
   * that were told. An error behind it proves nothing (money.md §2).
   */
  readonly began: boolean;
  /** Every choice that was asked for has had its finish. */
  readonly complete: boolean;
  /** One of several choices has had its finish. */
  readonly partly?: boolean;
  /** What it reads is handed over at the end: meanwhile each event says that the model is at work. */
  readonly holdsBack?: boolean;
  /** The upstream has told its usage, be it for the first time. */
  readonly usageTold: boolean;
  /** Of a whole answer in vectors (`Answer`). */
  readonly vectors?: readonly string[];
  /**
   * Appends what one event says, in order; usage each time it is told, as the figures of the whole answer so far. Finishes
   * wait for `close`. Throws `Failure` for what cannot be read; parts before it count as delivered.
   */
  event(event: Event, parts: Part[]): EventEnd;
  /** Appends what a whole body with status 200 says. Throws `Failure` where it is none, or holds an error. */
  whole(text: string, parts: Part[]): void;
  /** The event that was read last, of a reader whose events go on as they come. */
  readonly lastEvent?: JsonObject;
  /** An event as it goes on to who asked in this shape: with a mark on what must come back here alone. */
  passOn?(text: string): string;
  /** The whole body that was read, as it goes on to who asked in this shape: marked like its events. */
  told?(): JsonObject;
  /** Appends what stands at the end of a complete answer: citations and finishes. Throws `Failure` for a broken one. */
  close(parts: Part[]): void;
}

/** `done`: nothing of this answer follows. An error: the upstream told one inside its stream. Null: go on. */
export type EventEnd = "done" | UpstreamError | null;

/** An error as the upstream told it; every vendor's words are brought here before anything is concluded from them. */
export interface UpstreamError {
  /** The HTTP status that it names itself, inside a stream; 0 = none. */
  status: number;
  /** Its own words for the kind of error, joined. */
  code: string;
  message: string;
  /** The field of the request that it names, by the caller's name for it (wire.md §1.1); null = none. */
  param: string | null;
  /** The place of it in the body that was sent, in the vendor's own words, where these are others. */
  place?: string;
  /** When it says to come back; headers say it for all shapes. */
  retryAfterMs: number | null;
  /** What it means, where status and words that all shapes share do not tell (money.md §2: this may be proof). */
  cause?: FailureCause;
}
