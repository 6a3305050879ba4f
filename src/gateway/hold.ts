// An admitted request: its credits are held, its releases frozen. Exactly one of `settle` and `void` ends it; `Hold`
// remembers that it happened, so that the line can assert it in its `finally` (architecture.md §1).
import type { ChatRequest } from "../contract/chat-request.ts";
import type { NanoUsd } from "../contract/money.ts";
import type { Release } from "../contract/release.ts";
import type { AttemptRecord, Headroom, Ledger, Settlement, Voiding } from "../ledger/ledger.ts";
import type { AnswerHead } from "./answer-body.ts";
import type { IdempotencyKey } from "./idempotency.ts";

/** A release that may serve this request, with what must be sent to it. */
export interface Candidate {
  release: Release;
  reasoningEffort: string | null;
  temperature: number | null;
}

export interface Admitted {
  requestId: string;
  organizationId: string;
  keyId: string;
  idempotency: IdempotencyKey;
  request: ChatRequest;
  /** Id, time and model of the answer. */
  head: AnswerHead;
  /** Open candidates in the order of trial, at least one. */
  candidates: Candidate[];
  /** Held, nano-USD; no charge is ever above it. */
  amount: NanoUsd;
  /** P of wire.md §1: tokens the prompt was quoted at, at most. */
  promptTokensMax: number;
  /** O × n: tokens the output was quoted at, at most. */
  outputTokensMax: number;
  /** O of wire.md §1, per choice: sent upstream, never exceeded. */
  outputCeiling: number;
  researchMode: boolean;
  headroom: Headroom;
  admittedAtMs: number;
  /** Monotonic milliseconds at admission. */
  startedAtMs: number;
}

export class Hold {
  readonly attempts: AttemptRecord[] = [];
  private resolved = false;

  constructor(
    readonly admitted: Admitted,
    private readonly ledger: Pick<Ledger, "settle" | "void">,
  ) {}

  /** True while nobody has settled or voided it. */
  get open(): boolean {
    return !this.resolved;
  }

  /** COMMIT 2. Resolves when durable. `false`: somebody else resolved the request first; cut what is being sent. */
  async settle(settlement: Omit<Settlement, "organizationId" | "requestId" | "attempts">): Promise<boolean> {
    this.take();
    const { organizationId, requestId } = this.admitted;
    const outcome = await this.ledger.settle({
      ...settlement,
      organizationId,
      requestId,
      attempts: this.attempts,
    });
    return outcome.kind === "done";
  }

  /** The whole hold goes back. */
  async void(voiding: Omit<Voiding, "organizationId" | "requestId" | "attempts">): Promise<boolean> {
    this.take();
    const { organizationId, requestId } = this.admitted;
    const outcome = await this.ledger.void({
      ...voiding,
      organizationId,
      requestId,
      attempts: this.attempts,
    });
    return outcome.kind === "done";
  }

  private take(): void {
    if (this.resolved) throw new Error(`hold of ${this.admitted.requestId} was resolved twice`);
    this.resolved = true;
  }
}
