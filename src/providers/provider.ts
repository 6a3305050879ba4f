// The world outside, as the gateway sees it: one call in, parts out. Adapters translate; they never retry, never
// price, and make at most one HTTP request per call. wire.md §8, money.md §2 (proof of non-execution).
import type { ChatRequest } from "../domain/chat-request.ts";
import type { NativeShape } from "../domain/native-body.ts";
import type { JsonObject } from "../domain/read-value.ts";
import type { OptionalField } from "../domain/request-fields.ts";
import type { Prompt } from "../domain/prompt.ts";
import type { Release } from "../domain/release.ts";
import type { TokenClasses } from "../domain/token-classes.ts";
import type { BodyText } from "../domain/written-lists.ts";

/** One event of an upstream, as it is passed on. */
export interface NativeEvent {
  /** The upstream's name for the event; "" if it has none. */
  event: string;
  /** One line of JSON. */
  data: string;
  /** The parsed data. Never modified. */
  told: JsonObject;
}

/** A web page that the text from `start_index` up to `end_index` cites, in OpenAI's shape, as clients get it. */
export interface UrlCitation {
  type: "url_citation";
  url_citation: { start_index: number; end_index: number; url: string; title: string };
}

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/**
 * Usage as the provider reported it, normalised by the rules of wire.md §8.2: the whole prompt and the whole
 * completion, and the classes within them. A reader that knows only totals adds `NO_CLASSES`.
 */
export interface ProviderUsage extends TokenClasses {
  promptTokens: number;
  completionTokens: number;
}

/** One piece of what the upstream said. Tool indexes count 0, 1, 2 … per choice in order of first appearance. */
export type Part =
  | { type: "text"; choice: number; text: string; logprobs?: unknown }
  /** `explains`: the text is the provider's explanation of a missing answer, and no model wrote it. It proves no tokens. */
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
  /** All annotations of a choice, once, right before its finish. */
  | { type: "annotations"; choice: number; annotations: UrlCitation[] }
  /** Only in an answer to a native body; precedes the parts of its event. */
  | ({ type: "native"; choice: 0 } & NativeEvent)
  /** `guarded`: a guard intervened, and the choice's text may be the guard's. It proves no tokens. */
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
  /** A guard intervened: the text may be the guard's. */
  guarded?: boolean;
  /** The refusal is the provider's explanation. */
  explains?: boolean;
}

/** A complete, non-streamed answer; at least one choice, sorted by index. */
export interface Answer {
  choices: AnswerChoice[];
  usage: ProviderUsage | null;
  upstreamId: string | null;
  /** The body as it came, if a native body was answered in words; null if any of it was cut. Never modified. */
  native?: JsonObject | null;
  /** The vectors of an answer, one for each input in order: a JSON list of numbers, or a base64 string, as it came. */
  vectors?: readonly string[];
}

/** A call to one release before it is priced. */
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

/** The body of one upstream call: priced as `Prompt`, then sent. Nothing that was not measured is sent. */
export interface OutgoingBody extends Prompt {
  /** The caller's own body, in the shape of this upstream; the answer is in the same shape. */
  readonly native?: true;
  /** True if places in this body are the same as in the caller's body. */
  readonly places?: boolean;
  /** Those of the caller's headers that are forwarded, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Returns the same call in the form in which its provider counts tokens; absent if it does not count. */
  readonly counted?: () => string;
  /** The approximate maximum length of the answer in bytes, if it may be much longer than words are. */
  readonly answerBytes?: number;
  /** Names of the caller's fields that this upstream does not know; they are not sent. */
  readonly ignored: readonly string[];
  /**
   * True if the model is asked to think, under this ceiling and in this conversation; absent: as the published mode
   * says.
   */
  thinks?(ceiling: number): boolean;
  /** False if the model is told not to think; where no mode is published, it may. */
  readonly mayThink?: boolean;
  /** True if the model is shown the thoughts of all turns if the caller wishes it, or always. */
  readonly keepsThoughts?: boolean;
  /** Returns the text with its output ceiling O per choice, which is never exceeded. */
  print(ceiling: number): BodyText;
  /** Called once the text is no longer needed: an answer may take minutes. */
  sent(): void;
}

/** The memory reserved for an answer. */
export interface AnswerRoom {
  /** Called with the bytes held so far; returns false if there is no room for that many. */
  holds(bytes: number): boolean;
}

/** A call, notified when it is cut. */
export interface CutListener {
  handleEvent(): void;
}

/** What cuts a call: an `AbortSignal`, or anything with the same members. */
export interface CallSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(abort: "abort", call: CutListener): void;
  removeEventListener(abort: "abort", call: CutListener): void;
}

/** Everything an adapter may use. It gets a hold's number, so nobody can dispatch without one (S9). */
export interface ProviderCall {
  /** Ours; sent upstream as `x-request-id`. */
  requestId: string;
  /** 1, 2, … within the request; sent upstream as `x-tollgate-attempt`. */
  attempt: number;
  /** Sent upstream if the provider's configuration says so; null or absent if the request is not traced. */
  traceparent?: string | null;
  request: Pick<ChatRequest, "n" | "applied" | "stream" | "native">;
  /** The provider's name for the model; some have it in the path. */
  upstreamModel: string;
  /** From this provider's `prepare`. */
  body: OutgoingBody;
  outputCeiling: number;
  /** For an answer whose body has `answerBytes`; null or absent for others. */
  room?: AnswerRoom | null;
  /** Aborts the upstream call: the client left, a deadline passed, the hold ended. */
  signal: CallSignal;
}

/** A prompt to be counted, never run. */
export interface CountCall {
  requestId: string;
  upstreamModel: string;
  /** From this provider's `prepare`; it has `counted`. */
  body: OutgoingBody;
  signal: AbortSignal;
  withinMs: number;
}

export interface ProviderStream {
  upstreamId(): string | null;
  /**
   * Parts in upstream order, grouped by network read, pull-based: nothing is read ahead of the consumer. Ends
   * normally only after every choice had its finish part; otherwise throws a `Failure`.
   */
  parts: AsyncIterable<Part[]>;
}

export interface Provider {
  readonly name: string;
  /** The optional request fields that the upstream supports. */
  readonly fields: readonly OptionalField[];
  /** The upper end of its temperature range, if that is not 2. */
  readonly temperatureMax?: number;
  /** True if it accepts files: PDFs, inline. */
  readonly files?: boolean;
  /** The shapes in which it accepts a caller's body as it is. */
  readonly speaks?: readonly NativeShape[];
  /** Builds the body of a call in this upstream's shape. */
  prepare(draft: CallDraft): OutgoingBody;
  /** Makes one upstream call, answered whole. Throws `Failure`. */
  complete(call: ProviderCall): Promise<Answer>;
  /** Makes one upstream call, streamed. The request is sent when this is called; throws `Failure`, also while iterating. */
  stream(call: ProviderCall): Promise<ProviderStream>;
  /** Returns the tokens of a prompt as the provider itself counts them, free of charge. Throws `Failure`. */
  countTokens?(call: CountCall): Promise<number>;
  /** Makes a cheap liveness call; throws `Failure`. */
  probe(signal: AbortSignal): Promise<void>;
}
