// What the run saw from outside the gateway: every answer to every request, every answer of the operator API, every
// injected fault. The checks read this, the simulator's bill and the store, and ask the gateway for nothing else.
import type { Period, PlannedRequest, StandIn } from "./plan.ts";

/** `whole`: to its proper end. `left`: the client disconnected. `cut`: the connection broke or was never made. */
type Ending = "whole" | "left" | "cut";

/** One HTTP request and what came back. Times are wall clock milliseconds, like the ledger's stamps. */
export interface Exchange {
  request: PlannedRequest;
  kind: "send" | "repeat" | "misuse";
  /** The number of the gateway that it was sent to. */
  gateway: number;
  /** `Last-Event-ID`, if it was sent. */
  after: number | null;
  /** True if sent after the gateway had healed. */
  healed: boolean;
  sentAtMs: number;
  /** When the first content of the answer arrived. */
  contentAtMs: number | null;
  endedAtMs: number;
  ending: Ending;
  /** Null if no headers came. */
  status: number | null;
  headers: Record<string, string>;
  body: string;
}

/** A period of time; `endMs` is null while it goes on. */
export interface Span {
  what: string;
  startMs: number;
  endMs: number | null;
}

/** The number of a gateway; null for the provider or the store, which all gateways need. */
export interface Absence extends Span {
  gateway: number | null;
}

/**
 * The routes of a model, the entitlements to it, or a key, closed for a while: certainly from `closedMs` to
 * `openingMs`, possibly at any time of the span.
 */
export interface Closing extends Span {
  closedMs: number | null;
  openingMs: number | null;
}

/** A published release, keyed by the digest that requests are priced by. */
export interface ReleaseFacts extends Change {
  model: string;
  route: string;
  version: number;
  nanoPerToken: bigint;
  expiresAtMs: number;
  digest: string | null;
}

/** A change through the operator API: possibly in force from `askedMs` on, certainly from `ackedMs` on. */
export interface Change {
  askedMs: number;
  ackedMs: number | null;
}

export interface KeyFacts {
  plan: number;
  customer: number;
  keyId: string;
  secret: string;
  /** Every limit of this period that may ever have been in force; null = none. */
  limits: (bigint | null)[];
  period: Period;
  revoked: Change | null;
  /** Certainly paused from `closedMs` to `openingMs`. */
  pauses: Closing[];
  /** Null if it does not expire. */
  expiresAtMs: number | null;
}

export interface CustomerFacts {
  plan: number;
  kind: StandIn;
  organizationId: string;
  /** The active entitlement, for the customer of Research Mode. */
  entitlementId: string | null;
  /** Reference → amount of every acknowledged top-up. */
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
  /** Requests whose stored stream had a bit flipped. */
  readonly rotten = new Set<string>();
  /** Requests that the gateways could not end and an operator ended. */
  readonly quarantined = new Set<string>();
  /** Strokes of chaos by name. */
  readonly strokes = new Map<string, number>();
  /** What must never happen to a process. */
  readonly accidents: { what: string; atMs: number }[] = [];

  stroke(name: string): void {
    this.strokes.set(name, (this.strokes.get(name) ?? 0) + 1);
  }
}

/** True if any of the spans overlaps the time from `startMs` to `endMs`. */
export const touches = (spans: readonly Span[], startMs: number, endMs: number): boolean =>
  spans.some((span) => span.startMs <= endMs && (span.endMs ?? Number.POSITIVE_INFINITY) >= startMs);

/** True if any of them overlaps the exchange, at its own gateway or at something all gateways need. */
export const touchesHere = (
  absences: readonly Absence[],
  { gateway, sentAtMs, endedAtMs }: Exchange,
): boolean =>
  touches(
    absences.filter((absence) => absence.gateway === null || absence.gateway === gateway),
    sentAtMs,
    endedAtMs,
  );
