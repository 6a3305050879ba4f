// The world outside, as the gateway sees it: one call in, parts out. Adapters translate; they never retry, never
// price, and make at most one HTTP request per call. wire.md §8, money.md §2 (proof of non-execution).
import type { ChatRequest } from "../domain/chat-request.ts";
import type { NativeShape } from "../domain/native-body.ts";
import type { JsonObject } from "../domain/read-value.ts";
import type { OptionalField } from "../domain/request-fields.ts";
import type { Prompt } from "../domain/prompt.ts";
import type { Release } from "../domain/release.ts";
import type { TokenClasses } from "../domain/token-classes.ts";

/** An upstream's own event, as it goes on. */
export interface NativeEvent {
  /** Its own word for what it is; "" where it has none. */
  event: string;
  /** One line of JSON. */
  data: string;
  /** What that says. Never changed. */
  told: JsonObject;
}

/** A web page that the text from `start_index` up to `end_index` speaks from; OpenAI's shape, as clients get it. */
export interface UrlCitation {
  type: "url_citation";
  url_citation: { start_index: number; end_index: number; url: string; title: string };
}

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/**
 * Usage as the provider reported it, normalised by the rules of wire.md §8.2: the whole prompt and the whole completion,
 * and the classes within them. A reader that knows totals only adds `NO_CLASSES`.
 */
export interface ProviderUsage extends TokenClasses {
  promptTokens: number;
  completionTokens: number;
}

/** One thing that the upstream said. Tool indexes count 0, 1, 2 … per choice in order of first appearance. */
export type Part =
  | { type: "text"; choice: number; text: string; logprobs?: unknown }
  /** `explains`: why there is no answer, in its provider's words, which no model wrote. They prove no tokens. */
  | { type: "refusal"; choice: number; text: string; explains?: boolean }
  | { type: "reasoning"; choice: number; text: string }
  | {
      type: "tool_call";
      choice: number;
      index: number;
      id: string;
      name: string;
      extraContent?: Record<string, unknown>;
    }
  | { type: "tool_arguments"; choice: number; index: number; text: string }
  /** All of a choice, once, right before its finish. */
  | { type: "annotations"; choice: number; annotations: UrlCitation[] }
  /** In front of what it says: of an answer to a native body only. */
  | ({ type: "native"; choice: 0 } & NativeEvent)
  /** `guarded`: a guard stood in, and what the choice says may be its words. They prove no tokens. */
  | { type: "finish"; choice: number; reason: FinishReason; guarded?: boolean }
  | { type: "usage"; usage: ProviderUsage };

export interface AnswerChoice {
  index: number;
  content: string | null;
  refusal: string | null;
  reasoning: string | null;
  toolCalls: { id: string; name: string; arguments: string; extraContent?: Record<string, unknown> }[];
  annotations: UrlCitation[] | null;
  logprobs: unknown;
  finishReason: FinishReason;
  /** A guard stood in: what it says may be the guard's words. */
  guarded?: boolean;
  /** The refusal is its provider's explanation. */
  explains?: boolean;
}

/** A complete, non-streamed answer; at least one choice, sorted by index. */
export interface Answer {
  choices: AnswerChoice[];
  usage: ProviderUsage | null;
  upstreamId: string | null;
  /** The body as it came, where a native body was answered in words; null when something of it was cut. Never changed. */
  native?: JsonObject | null;
  /** Of an answer in vectors, one for each input in their order: a JSON list of numbers, or a string of base64, as it came. */
  vectors?: readonly string[];
}

/** What shall be said to one release, before it is priced. */
export interface CallDraft {
  release: Release;
  request: ChatRequest;
  /** The published mode to send explicitly; null when the release has no reasoning modes. */
  reasoningEffort: string | null;
  /** Temperature to send; null = none. */
  temperature: number | null;
  /** HMAC-ed caller identifiers, wire names as keys. */
  identifiers: Record<string, string>;
}

/** The body of one upstream call: priced as `Prompt`, then sent; nothing goes upstream that was not measured. */
export interface OutgoingBody extends Prompt {
  /** The caller's own words, in the shape of this upstream: it is answered in the same. */
  readonly native?: true;
  /** Places in it are the caller's: what stands at one stands there in the body that was sent here. */
  readonly places?: boolean;
  /** Of the caller's headers those that go along, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The same call as its provider counts it, where that counts at all. */
  readonly counted?: () => string;
  /** About how long its answer is at most, in bytes, where it may be much longer than words are. */
  readonly answerBytes?: number;
  /** Names of the caller's fields that this upstream does not know: not sent. */
  readonly ignored: readonly string[];
  /** Whether the model is asked to think, under this ceiling and in this conversation; absent: as the published mode says. */
  thinks?(ceiling: number): boolean;
  /** The text with its output ceiling O per choice, which is never exceeded. */
  print(ceiling: number): string;
  /** It is not needed as text any more: an answer may run for minutes. */
  sent(): void;
}

/** The room that an answer has in memory. */
export interface AnswerRoom {
  /** So much of it there is by now; false where there is no room for that much. */
  holds(bytes: number): boolean;
}

/** A call that is told when it is cut. */
export interface CutListener {
  handleEvent(): void;
}

/** What cuts a call: an `AbortSignal`, or what says it in the same words. */
export interface CallSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(abort: "abort", call: CutListener): void;
  removeEventListener(abort: "abort", call: CutListener): void;
}

/** Everything an adapter may use. It gets a hold's number, so nobody can dispatch without one (S9). */
export interface ProviderCall {
  /** Ours; goes upstream as `x-request-id`. */
  requestId: string;
  /** 1, 2, … within the request; goes upstream as `x-tollgate-attempt`. */
  attempt: number;
  /** Goes upstream where the provider's configuration says so; null or left out where the request is not traced. */
  traceparent?: string | null;
  request: Pick<ChatRequest, "n" | "applied" | "stream" | "native">;
  /** What the provider calls the model; some put it into the path. */
  upstreamModel: string;
  /** Of this provider's `prepare`. */
  body: OutgoingBody;
  outputCeiling: number;
  /** Of an answer whose body said `answerBytes`; null or left out of others. */
  room?: AnswerRoom | null;
  /** Aborts the upstream call: the client left, a deadline passed, the hold ended. */
  signal: CallSignal;
}

/** What is asked to be counted, and never run. */
export interface CountCall {
  requestId: string;
  upstreamModel: string;
  /** Of this provider's `prepare`; it says `counted`. */
  body: OutgoingBody;
  signal: AbortSignal;
  withinMs: number;
}

export interface ProviderStream {
  upstreamId(): string | null;
  /**
   * Parts in upstream order, grouped by network read, pull-based: nothing is read ahead of the consumer.
   * Ends normally only after every choice had its finish part; otherwise throws a `Failure`.
   */
  parts: AsyncIterable<Part[]>;
}

export interface Provider {
  readonly name: string;
  /** Which optional fields the upstream knows. */
  readonly fields: readonly OptionalField[];
  /** Upper end of its temperature, where that is not 2. */
  readonly temperatureMax?: number;
  /** It takes files: PDFs, inline. */
  readonly files?: boolean;
  /** Shapes in which it takes a caller's body as it is. */
  readonly speaks?: readonly NativeShape[];
  /** The body of a call in this upstream's shape. */
  prepare(draft: CallDraft): OutgoingBody;
  /** One upstream call, answered whole. Throws `Failure`. */
  complete(call: ProviderCall): Promise<Answer>;
  /** One upstream call, streamed. The request is sent when this is called; throws `Failure`, also while iterating. */
  stream(call: ProviderCall): Promise<ProviderStream>;
  /** Tokens of a prompt as the provider itself counts them, for nothing. Throws `Failure`. */
  countTokens?(call: CountCall): Promise<number>;
  /** A cheap liveness call; throws `Failure`. */
  probe(signal: AbortSignal): Promise<void>;
}
