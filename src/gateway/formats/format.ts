// What makes a surface of this gateway: how its requests are read and how its answers are printed (surfaces.md). The line
// speaks only this and the neutral request, so admission, money and replays are the same on every surface. A new surface is
// a folder beside this file and a line in `formats.ts`.
import type { ChatRequest } from "../../domain/chat-request.ts";
import type { ShownIn } from "../../domain/credential.ts";
import type { Refusal } from "../../domain/refusals.ts";
import type { TokenUsage } from "../../ledger/records.ts";
import type { Answer, FinishReason, Part } from "../../providers/provider.ts";

export interface Format {
  /** What records, filters and metrics call it. Never changes once it has been served. */
  readonly surface: string;
  /**
   * Where it answers, by POST; its quotes are at `<path>/quote`. Part of every fingerprint (money.md §8): a key that was
   * used on one surface and is sent to another is a mismatch. Never changes once it has been served.
   */
  readonly path: string;
  /** What `object` calls its answers; a quote is one of `<object>.quote`. */
  readonly object: string;
  /** A header that names the request beside `x-request-id`, for clients that read no other; null: none. */
  readonly idHeader: string | null;
  /** What its clients send on every path, also on those that nobody serves; left out where they send nothing of the kind. */
  readonly clientHeader?: string;
  /** Where its clients put the key; CORS lets browsers send it, too. */
  readonly credentialHeader: ShownIn;
  /**
   * Reads a decoded body, and those of the headers that say how this surface is meant. Throws a `Refusal` with `param` for
   * the first field, in body order, that does not pass.
   */
  parse(body: unknown, header: HeaderOf): ParsedRequest;
  /** By a provider's name for it, what the caller calls a field that was sent upstream as the caller wrote it. */
  sentFields(request: ChatRequest): ReadonlyMap<string, string>;
  /** The body of an error answer. `gateway` is JSON text, or null for callers that showed no valid key. */
  printError(refusal: Refusal, requestId: string, gateway: string | null): string;
  /**
   * The same as the events of a stream that fails at once, for a client that knows it by nothing else; null for all others. `error` is a
   * printed body.
   */
  refusedInStream?(error: string, header: HeaderOf): string | null;
  /** The events that end a keyed stream which nobody prints any more; the first of them has this number. */
  printInterrupted(refusal: Refusal, requestId: string, at: InterruptedAt): string;
  /** Whether a keyed stream that begins like this was printed here: what is kept of a stream says itself what it is. */
  recognizes(sent: string): boolean;
}

/** Where a stream broke off. */
export interface InterruptedAt {
  /** JSON text. */
  gateway: string;
  number: number;
  /** All that was sent of it; "" where that is not kept. */
  sent: string;
}

/** A header of the request by its name; null when it was not sent. */
export type HeaderOf = (name: string) => string | null;

interface ParsedRequest {
  request: ChatRequest;
  printer: AnswerPrinter;
}

/** What an answer says of its request. */
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

/** Prints the answer to one request; knows what the caller said about its form. */
export interface AnswerPrinter {
  /** The whole body of an answer that is not streamed. */
  answer(head: AnswerHead, answer: Answer, figures: AnswerFigures): string;
  /** `numbered`: a caller's key keeps these bytes, and its events are counted from 1 (`event-stream.ts`). */
  stream(head: AnswerHead, numbered: boolean): StreamPrinter;
}

/** Parts that are shown as they come; usage and the last finish travel with the receipt. */
export type ShownPart = Exclude<Part, { type: "usage" | "finish" }>;

/** Prints one stream, in this order: `begin`, then `part` and `finish` as they come, then `end`; or `error` at any time. */
export interface StreamPrinter {
  /** What comes before the first part. `gateway`: the receipt without cost. */
  begin(gateway: string): string;
  part(part: ShownPart): string;
  /** The finish of a choice that is not the last one. */
  finish(choice: number, reason: FinishReason): string;
  /** The last finish with the complete receipt, and whatever ends a stream. */
  end(choice: number, reason: FinishReason, figures: AnswerFigures): string;
  /** An error after the status was sent, and nothing after it. `gateway` is JSON text. */
  error(refusal: Refusal, gateway: string): string;
  /** What a silent minute sends to clients that time out between events; not numbered, not kept. */
  filler(): string;
}
