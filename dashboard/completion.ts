// The state of one request of the playground while it runs: admitted, waiting, streaming, settled.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { FIRST_SURFACE, type SpokenSurface } from "../src/domain/surfaces.ts";
import type { ChatBody, Settled, ToolCall, ToolCallPart, Usage } from "./api/chat.ts";
import { ApiError } from "./api/client.ts";
import { complete, type CompletionEvent } from "./api/completion.ts";

export interface Completion {
  /** `cut`: the gateway ended it early and gave the reason. `unknown`: its outcome is not known here. */
  phase: "idle" | "sending" | "waiting" | "streaming" | "settled" | "stopped" | "refused" | "cut" | "unknown";
  content: string;
  reasoning: string;
  calls: readonly ToolCall[];
  /** Parts that arrived: about as many as tokens. */
  parts: number;
  /** The inputs for asking the gateway what the request would cost so far; null until the bound is known. */
  model: string;
  promptTokens: number | null;
  startedAtMs: number;
  firstPartMs: number | null;
  totalMs: number | null;
  requestId: string | null;
  heldUsd: string | null;
  finishReason: string | null;
  usage: Usage | null;
  gateway: Settled | null;
  error: unknown;
}

const IDLE: Completion = {
  phase: "idle",
  content: "",
  reasoning: "",
  calls: [],
  parts: 0,
  model: "",
  promptTokens: null,
  startedAtMs: 0,
  firstPartMs: null,
  totalMs: null,
  requestId: null,
  heldUsd: null,
  finishReason: null,
  usage: null,
  gateway: null,
  error: null,
};

export interface Sending {
  key: string;
  /** Default: chat completions. */
  surface?: SpokenSurface;
  request: ChatBody;
  /** The bound of the prompt, if it is being fetched; the request does not wait for it. Never rejects. */
  promptTokens?: Promise<number | null>;
}

export const isRunning = ({ phase }: Completion): boolean =>
  phase === "sending" || phase === "waiting" || phase === "streaming";

export function useCompletion(org: string) {
  const [completion, setCompletion] = useState(IDLE);
  const abort = useRef<AbortController | null>(null);
  const queries = useQueryClient();
  useEffect(() => () => abort.current?.abort(), []);

  /** Runs the request to its end, and returns how it ended. */
  const start = async ({
    key,
    surface = FIRST_SURFACE,
    request,
    promptTokens,
  }: Sending): Promise<Completion> => {
    abort.current?.abort();
    const mine = new AbortController();
    abort.current = mine;
    const about = { model: request.model, startedAtMs: performance.now() };
    let now: Completion = { ...IDLE, ...about, phase: "sending" };
    const show = (next: Completion): void => {
      now = next;
      if (abort.current === mine) setCompletion(next);
    };
    show(now);
    void promptTokens?.then((bound) => {
      if (isRunning(now)) show({ ...now, promptTokens: bound });
    });
    try {
      const terms = { surface, request, signal: mine.signal };
      for await (const event of complete({ org, key }, terms)) show(after(now, event));
    } catch (error) {
      const phase = mine.signal.aborted ? "stopped" : isRefusal(now, error) ? "refused" : "unknown";
      show({ ...now, phase, error: phase === "stopped" ? null : error, totalMs: since(now) });
    }
    // Balance, activity and the steps of the first run have changed.
    void queries.invalidateQueries({ queryKey: ["orgs", org] });
    return now;
  };
  return {
    completion,
    start,
    stop: () => abort.current?.abort(),
    clear: () => setCompletion(IDLE),
  };
}

/**
 * True for an error of the gateway before anything was streamed; a code such as `http_504` comes from something in
 * between.
 */
const isRefusal = ({ phase }: Completion, error: unknown): boolean =>
  phase === "sending" &&
  error instanceof ApiError &&
  !(error.status >= 500 && error.code.startsWith("http_"));

function after(now: Completion, event: CompletionEvent): Completion {
  switch (event.kind) {
    case "admitted":
      return { ...now, phase: "waiting", requestId: event.requestId, heldUsd: event.heldUsd };
    case "part":
      return {
        ...now,
        phase: "streaming",
        content: now.content + event.content,
        reasoning: now.reasoning + event.reasoning,
        calls: event.calls.reduce(withPart, now.calls),
        parts: now.parts + 1,
        firstPartMs: now.firstPartMs ?? since(now),
      };
    case "cut": {
      const { error, gateway } = event;
      const phase = gateway?.cost === undefined ? "unknown" : "cut";
      return { ...now, phase, error, gateway, totalMs: since(now) };
    }
    case "ended": {
      const { finishReason, usage, gateway } = event;
      return { ...now, phase: "settled", finishReason, usage, gateway, totalMs: since(now) };
    }
  }
}

/** A call's first piece has id and name; the pieces of its arguments follow under the same index. */
function withPart(calls: readonly ToolCall[], { index = calls.length, id, function: said }: ToolCallPart) {
  const begun = calls[index];
  const next: ToolCall = {
    id: begun?.id ?? id ?? "",
    type: "function",
    function: {
      name: (begun?.function.name ?? "") + (said?.name ?? ""),
      arguments: (begun?.function.arguments ?? "") + (said?.arguments ?? ""),
    },
  };
  return begun === undefined ? [...calls, next] : calls.with(index, next);
}

const since = ({ startedAtMs }: Completion): number => performance.now() - startedAtMs;

/** The charge as a decimal string; null while it is not settled. On the wire it is a JSON number. */
export function chargeOf({ gateway }: Completion): string | null {
  const charge = gateway?.cost?.customer_charge_usd;
  return charge === undefined ? null : charge.toFixed(9);
}
