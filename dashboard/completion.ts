// The state of one request of the playground while it runs: admitted, waiting, streaming, settled.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { complete, type CompletionEvent, type Settled, type Usage } from "./api/completion.ts";

export interface Completion {
  phase: "idle" | "sending" | "waiting" | "streaming" | "settled" | "stopped" | "refused";
  content: string;
  reasoning: string;
  /** Parts that arrived: about as many as tokens. */
  parts: number;
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
  parts: 0,
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
  request: object;
}

export const isRunning = ({ phase }: Completion): boolean =>
  phase === "sending" || phase === "waiting" || phase === "streaming";

export function useCompletion(org: string) {
  const [completion, setCompletion] = useState(IDLE);
  const abort = useRef<AbortController | null>(null);
  const queries = useQueryClient();
  useEffect(() => () => abort.current?.abort(), []);

  const start = async ({ key, request }: Sending): Promise<void> => {
    abort.current?.abort();
    const mine = new AbortController();
    abort.current = mine;
    let now: Completion = { ...IDLE, phase: "sending", startedAtMs: performance.now() };
    const show = (next: Completion): void => {
      now = next;
      if (abort.current === mine) setCompletion(next);
    };
    show(now);
    try {
      const terms = { request, idempotencyKey: crypto.randomUUID(), signal: mine.signal };
      for await (const event of complete({ org, key }, terms)) show(after(now, event));
    } catch (error) {
      const phase = mine.signal.aborted ? "stopped" : "refused";
      show({ ...now, phase, error: phase === "stopped" ? null : error, totalMs: since(now) });
    }
    // Balance, activity and the steps of the first run have changed.
    void queries.invalidateQueries({ queryKey: ["organization", org] });
  };
  return {
    completion,
    start,
    stop: () => abort.current?.abort(),
    clear: () => setCompletion(IDLE),
  };
}

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
        parts: now.parts + 1,
        firstPartMs: now.firstPartMs ?? since(now),
      };
    case "ended": {
      const { finishReason, usage, gateway } = event;
      return { ...now, phase: "settled", finishReason, usage, gateway, totalMs: since(now) };
    }
  }
}

const since = ({ startedAtMs }: Completion): number => performance.now() - startedAtMs;

/** The charge as a decimal string; null while it is not settled. On the wire it is a JSON number. */
export function chargeOf({ gateway }: Completion): string | null {
  const charge = gateway?.cost?.customer_charge_usd;
  return charge === undefined ? null : charge.toFixed(9);
}
