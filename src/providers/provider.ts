// The world outside, as the gateway sees it: one call in, parts out. Adapters translate; they never retry, never
// price, and make at most one HTTP request per call. wire.md §8, money.md §2 (proof of non-execution).
import type { ChatRequest } from "../contract/chat-request.ts";
import type { Release } from "../contract/release.ts";

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/** Usage as the provider reported it, normalised by the rules of wire.md §8.2; cached ⊂ prompt, reasoning ⊂ completion. */
export interface ProviderUsage {
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number | null;
  reasoningTokens: number | null;
}

/** One thing that the upstream said. Tool indexes count 0, 1, 2 … per choice in order of first appearance. */
export type Part =
  | { type: "text"; choice: number; text: string; logprobs?: unknown }
  | { type: "refusal"; choice: number; text: string }
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
  | { type: "annotations"; choice: number; annotations: unknown[] }
  | { type: "finish"; choice: number; reason: FinishReason }
  | { type: "usage"; usage: ProviderUsage };

export interface AnswerChoice {
  index: number;
  content: string | null;
  refusal: string | null;
  reasoning: string | null;
  toolCalls: { id: string; name: string; arguments: string; extraContent?: Record<string, unknown> }[];
  annotations: unknown[] | null;
  logprobs: unknown;
  finishReason: FinishReason;
}

/** A complete, non-streamed answer; at least one choice, sorted by index. */
export interface Answer {
  choices: AnswerChoice[];
  usage: ProviderUsage | null;
  upstreamId: string | null;
}

/** Everything an adapter may use. It gets a hold's number, so nobody can dispatch without one (S9). */
export interface ProviderCall {
  /** Ours; goes upstream as `x-request-id`. */
  requestId: string;
  /** 1, 2, … within the request; goes upstream as `x-tollgate-attempt`. */
  attempt: number;
  release: Release;
  request: ChatRequest;
  /** Output ceiling O per choice: always present in the outgoing body, never exceeded. */
  outputCeiling: number;
  /** The published mode to send explicitly; null when the release has no reasoning modes. */
  reasoningEffort: string | null;
  /** Temperature to send; null = none. */
  temperature: number | null;
  /** HMAC-ed caller identifiers, wire names as keys. */
  identifiers: Record<string, string>;
  /** Aborts the upstream call: the client left, a deadline passed, the hold ended. */
  signal: AbortSignal;
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
  /** One upstream call, answered whole. Throws `Failure`. */
  complete(call: ProviderCall): Promise<Answer>;
  /** One upstream call, streamed. The request is sent when this is called; throws `Failure`, also while iterating. */
  stream(call: ProviderCall): Promise<ProviderStream>;
  /** A cheap liveness call; throws `Failure`. */
  probe(signal: AbortSignal): Promise<void>;
}
