// An admitted request: its credits are held, its releases frozen. Exactly one of `settle` and `void` ends it; `Hold` records that
// it happened, so that its owner can assert it in a `finally` (architecture.md §1).
import type { ChatRequest } from "../domain/chat-request.ts";
import type { NanoUsd } from "../domain/money.ts";
import { isOverloaded } from "../domain/overloaded.ts";
import type { Release } from "../domain/release.ts";
import type { Headroom, Ledger, ResolveOutcome, Settlement, Voiding, Lowering } from "../ledger/ledger.ts";
import type { AttemptRecord } from "../ledger/records.ts";
import type { Member } from "../lib/roster.ts";
import type { Room } from "../limits/byte-rooms.ts";
import type { OutgoingBody } from "../providers/provider.ts";
import type { AnswerHead, AnswerPrinter, Format } from "./formats/format.ts";
import type { IdempotencyKey } from "./idempotency.ts";
import type { RequestTrace } from "./trace.ts";

/** A release that may serve this request, with what will be sent to it. */
export interface Candidate {
  release: Release;
  body: OutgoingBody;
}

/** What COMMIT 1 admitted, frozen: nothing that is published, lowered or revoked later changes it. */
export interface Admitted {
  requestId: string;
  organizationId: string;
  keyId: string;
  idempotency: IdempotencyKey;
  request: ChatRequest;
  format: Format;
  printer: AnswerPrinter;
  /** Request, time and model of the answer. */
  head: AnswerHead;
  /** Open candidates in the order of trial, at least one. */
  candidates: Candidate[];
  /** Held at admission, nano-USD. */
  amount: NanoUsd;
  /** P of wire.md §1: the maximum of prompt tokens that was quoted. */
  promptTokensMax: number;
  /** Whether P was counted; otherwise it is a bound, and the hold may be lowered while the request runs. */
  counted: boolean;
  /** O × n: the maximum of output tokens that was quoted. */
  outputTokensMax: number;
  /** O of wire.md §1, per choice: sent upstream, never exceeded. */
  outputCeiling: number;
  researchMode: boolean;
  headroom: Headroom;
  admittedAtMs: number;
  /** Monotonic milliseconds at admission. */
  startedAtMs: number;
  trace: RequestTrace | null;
}

/** The maximum cost of a request, and the prompt tokens that it is for. */
export type Terms = Pick<Lowering, "hold" | "promptBound">;

/** Called for each hold that this process resolved, once that is durable. Never throws. */
export type NoteResolved = (hold: Hold, ending: Settlement | Voiding) => void;

/** Spread if nothing was lowered: spreading `false` would allocate an object each time. */
const AS_HELD = {} as const;

/**
 * Owned by the code that runs the request. A second `settle` or `void` throws, unless the ledger refused the first (`openAfter`).
 */
export class Hold implements Member {
  rosterPlace = -1;
  readonly attempts: AttemptRecord[] = [];
  /** The candidate that was called last, with its body. */
  tried: Candidate | null = null;
  /** Room for its answer, if that may be large. */
  room: Room | null = null;
  private state: "open" | "ending" | "ended" = "open";
  private lowered: Terms | null = null;
  /** The terms as quoted; created when needed for pricing. */
  private quoted: Terms | null = null;
  /**
   * What the ledger was asked last. A member, because a local variable would live across the wait for the ledger and cost every
   * waiting request memory of its own.
   */
  private told: Settlement | Voiding | null = null;

  constructor(
    readonly admitted: Admitted,
    private readonly ledger: Pick<Ledger, "settle" | "void">,
    /** Called when it is about to be resolved. */
    private readonly ending: (hold: Hold) => void,
    private readonly resolved: NoteResolved,
  ) {}

  /** The terms that its bill is priced with: from now on it is not lowered any more. No charge is ever above it. */
  get terms(): Terms {
    this.quoted ??= { hold: this.admitted.amount, promptBound: this.admitted.promptTokensMax };
    return this.lowered ?? this.quoted;
  }

  get lowerable(): boolean {
    return this.open && this.quoted === null && this.lowered === null;
  }

  /**
   * Lowers the hold, once. The caller commits the result; if that fails, the settlement corrects it. Null if it is too late, or
   * if neither the hold nor the reserved tokens would be less.
   */
  lower(terms: Terms): Lowering | null {
    const { organizationId, requestId, amount, promptTokensMax } = this.admitted;
    const less = terms.hold < amount || (terms.hold === amount && terms.promptBound < promptTokensMax);
    if (!this.lowerable || !less) return null;
    this.lowered = terms;
    return { organizationId, requestId, ...terms };
  }

  /** True until it has been settled or voided. */
  get open(): boolean {
    return this.state === "open";
  }

  /**
   * After an exception: whether the hold is still its owner's to resolve. It is if nobody tried, or if the ledger refused, which
   * changed nothing; what a store has not accepted yet is retried until it has.
   */
  openAfter(error: unknown): boolean {
    if (this.state === "ending" && !isOverloaded(error)) this.state = "open";
    return this.open;
  }

  /** COMMIT 2. Resolves when durable. `false`: somebody else resolved the request first; cut what is being sent. */
  async settle(settlement: Omit<Settlement, "organizationId" | "requestId" | "attempts">): Promise<boolean> {
    this.take();
    const { organizationId, requestId } = this.admitted;
    this.told = {
      ...settlement,
      organizationId,
      requestId,
      attempts: this.attempts,
      ...(this.lowered !== null ? { lowered: this.lowered } : AS_HELD),
    };
    const outcome = await this.ledger.settle(this.told);
    return this.done(outcome);
  }

  /** Returns the whole hold. */
  async void(voiding: Omit<Voiding, "organizationId" | "requestId" | "attempts">): Promise<boolean> {
    this.take();
    const { organizationId, requestId } = this.admitted;
    this.told = { ...voiding, organizationId, requestId, attempts: this.attempts };
    const outcome = await this.ledger.void(this.told);
    return this.done(outcome);
  }

  private take(): void {
    if (!this.open) throw new Error(`hold of ${this.admitted.requestId} was resolved twice`);
    this.state = "ending";
    this.admitted.trace?.settling();
    this.ending(this);
  }

  private done(outcome: ResolveOutcome): boolean {
    const { told } = this;
    this.state = "ended";
    this.told = null;
    if (outcome.kind === "done" && told !== null) this.resolved(this, told);
    return outcome.kind === "done";
  }
}
