// Defines a surface of this gateway: how its requests are read and how its answers are printed (surfaces.md). The rest of the
// gateway knows only this and the neutral request, so admission, money and replays are the same on every surface. A new surface is
// a folder beside this file and a line in `formats.ts`.
import type { ChatRequest } from "../../domain/chat-request.ts";
import type { ShownIn } from "../../domain/credential.ts";
import type { Refusal } from "../../domain/refusals.ts";
import type { TokenUsage } from "../../ledger/records.ts";
import type { Answer, FinishReason, Part } from "../../providers/provider.ts";

export interface Format {
  /** The name in records, filters and metrics. Never changes once it has been served. */
  readonly surface: string;
  /**
   * The path of its POST requests; quotes are at `<path>/quote`. Part of every fingerprint (money.md §8): a key used on one surface
   * and sent to another is a mismatch. Never changes once it has been served.
   */
  readonly path: string;
  /** The `object` member of its answers; a quote's is `<object>.quote`. */
  readonly object: string;
  /** A header that carries the request id in addition to `x-request-id`, for clients that read no other; null: none. */
  readonly idHeader: string | null;
  /** A header that its clients send on every path, also on those that do not exist; left out if there is none. */
  readonly clientHeader?: string;
  /** Where its clients put the key; CORS lets browsers send it, too. */
  readonly credentialHeader: ShownIn;
  /**
   * Reads a decoded body, and the headers that modify this surface. Throws a `Refusal` with `param` for the first invalid field, in
   * body order.
   */
  parse(body: unknown, header: HeaderOf): ParsedRequest;
  /** The caller's names of fields that were sent upstream as written, by the provider's name. */
  sentFields(request: ChatRequest): ReadonlyMap<string, string>;
  /** The body of an error answer. `gateway` is JSON text, or null for callers that showed no valid key. */
  printError(refusal: Refusal, requestId: string, gateway: string | null): string;
  /**
   * The same as the events of a stream that fails at once, for a client that recognizes it in no other form; null for all others.
   * `error` is a printed body.
   */
  refusedInStream?(error: string, header: HeaderOf): string | null;
  /** The events that end a keyed stream whose printer is gone; the first of them has this number. */
  printInterrupted(refusal: Refusal, requestId: string, at: InterruptedAt): string;
  /** Whether a keyed stream that begins like this was printed by this format: a stored stream is identified by its own text. */
  recognizes(sent: string): boolean;
}

/** Where a stream broke off. */
export interface InterruptedAt {
  /** JSON text. */
  gateway: string;
  number: number;
  /** Everything that was sent of it; "" if it is not stored. */
  sent: string;
}

/** Returns a request header by name; null if it was not sent. */
export type HeaderOf = (name: string) => string | null;

interface ParsedRequest {
  request: ChatRequest;
  printer: AnswerPrinter;
}

/** What an answer says about its request. */
export interface AnswerHead {
  requestId: string;
  /** Unix seconds. */
  created: number;
  /** The public model id. */
  model: string;
}

/** What is known of an answer when it is priced. `gateway` is JSON text. */
export interface AnswerFigures {
  usage: TokenUsage;
  gateway: string;
}

/** Prints the answer to one request, in the form that the caller asked for. */
export interface AnswerPrinter {
  /** The whole body of an answer that is not streamed. */
  answer(head: AnswerHead, answer: Answer, figures: AnswerFigures): string;
  /** `numbered`: these bytes are stored under a caller's key, and its events are numbered from 1 (`event-stream.ts`). */
  stream(head: AnswerHead, numbered: boolean): StreamPrinter;
}

/** Parts that are shown as they arrive; usage and the last finish are sent with the receipt. */
export type ShownPart = Exclude<Part, { type: "usage" | "finish" }>;

/** Prints one stream, in this order: `begin`, then `part` and `finish` as they arrive, then `end`; or `error` at any time. */
export interface StreamPrinter {
  /** What precedes the first part. `gateway`: the receipt without cost. */
  begin(gateway: string): string;
  part(part: ShownPart): string;
  /** The finish of a choice that is not the last one. */
  finish(choice: number, reason: FinishReason): string;
  /** The last finish with the complete receipt, and the end of the stream. */
  end(choice: number, reason: FinishReason, figures: AnswerFigures): string;
  /** An error after the status was sent; nothing follows it. `gateway` is JSON text. */
  error(refusal: Refusal, gateway: string): string;
  /** Sent during a minute of silence, for clients that time out between events; not numbered, not stored. */
  filler(): string;
}
