// What the run saw, from outside the gateway: every answer to every request, every word of the operator API, every
// stroke of chaos. The checks read this, the simulator's bill and the store; they ask the gateway for nothing else.
import type { Period, PlannedRequest, StandIn } from "./plan.ts";

/** `whole`: to its proper end. `left`: we went away. `cut`: the connection broke or was never made. */
type Ending = "whole" | "left" | "cut";

/** One HTTP request and what came back. Times are wall clock milliseconds, as the ledger's stamps are. */
export interface Exchange {
  request: PlannedRequest;
  kind: "send" | "repeat" | "misuse";
  /** The number of the gateway that it went to. */
  gateway: number;
  /** `Last-Event-ID`, when it was sent. */
  after: number | null;
  /** After the gateway had healed. */
  healed: boolean;
  sentAtMs: number;
  /** When the first word of the answer arrived. */
  contentAtMs: number | null;
  endedAtMs: number;
  ending: Ending;
  /** Null when no headers came. */
  status: number | null;
  headers: Record<string, string>;
  body: string;
}

/** Something that had a beginning and an end; `endMs` is null while it goes on. */
export interface Span {
  what: string;
  startMs: number;
  endMs: number | null;
}

/** Of a gateway, by its number; of the provider or the store, which all of them need: null. */
export interface Absence extends Span {
  gateway: number | null;
}

/** The routes of a model, the entitlements to it, or a key, gone for a while: for certain from `closedMs` to `openingMs`, perhaps at any time of the span. */
export interface Closing extends Span {
  closedMs: number | null;
  openingMs: number | null;
}

/** A release that was published, by the digest that requests are priced by. */
export interface ReleaseFacts extends Change {
  model: string;
  route: string;
  version: number;
  nanoPerToken: bigint;
  expiresAtMs: number;
  digest: string | null;
}

/** A change through the operator API: in force at the latest when `ackedMs` was reached, perhaps from `askedMs` on. */
export interface Change {
  askedMs: number;
  ackedMs: number | null;
}

export interface KeyFacts {
  plan: number;
  customer: number;
  keyId: string;
  secret: string;
  /** Every limit of this period that may ever have been in force, null = none. */
  limits: (bigint | null)[];
  period: Period;
  revoked: Change | null;
  /** For certain from `closedMs` to `openingMs`. */
  pauses: Closing[];
  /** Null: it does not end by itself. */
  expiresAtMs: number | null;
}

export interface CustomerFacts {
  plan: number;
  kind: StandIn;
  organizationId: string;
  /** The active one, for the customer of Research Mode. */
  entitlementId: string | null;
  /** Reference → amount of every top-up that was acknowledged. */
  credited: Map<string, bigint>;
}

export interface ObservedBalance {
  customer: number;
  atMs: number;
  balance: Record<string, string | boolean>;
}

export class History {
  readonly exchanges: Exchange[] = [];
  readonly keys = new Map<number, KeyFacts>();
  readonly customers = new Map<number, CustomerFacts>();
  readonly balances: ObservedBalance[] = [];
  /** Audits that were not clean. */
  readonly audits: { atMs: number; report: unknown }[] = [];
  auditsTaken = 0;
  /** From the signal that ended a gateway until the next one was ready. */
  readonly downs: Absence[] = [];
  readonly pauses: Absence[] = [];
  readonly closings: Closing[] = [];
  readonly releases: ReleaseFacts[] = [];
  /** Requests in whose stored stream a bit was flipped. */
  readonly rotten = new Set<string>();
  /** Requests that the gateways would not end by themselves, and that an operator ended. */
  readonly quarantined = new Set<string>();
  /** Strokes of chaos by name. */
  readonly strokes = new Map<string, number>();
  /** What must never happen to a process. */
  readonly accidents: { what: string; atMs: number }[] = [];

  stroke(name: string): void {
    this.strokes.set(name, (this.strokes.get(name) ?? 0) + 1);
  }
}

/** Whether any of the spans touches the time from `startMs` to `endMs`. */
export const touches = (spans: readonly Span[], startMs: number, endMs: number): boolean =>
  spans.some((span) => span.startMs <= endMs && (span.endMs ?? Number.POSITIVE_INFINITY) >= startMs);

/** Whether any of them touches the exchange at its own gateway, or at what all gateways need. */
export const touchesHere = (
  absences: readonly Absence[],
  { gateway, sentAtMs, endedAtMs }: Exchange,
): boolean =>
  touches(
    absences.filter((absence) => absence.gateway === null || absence.gateway === gateway),
    sentAtMs,
    endedAtMs,
  );
