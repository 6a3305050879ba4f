// Resolves requests whose owner is gone (money.md §2, §3, §9). A stream with stored progress is settled for
// what its client provably received, and a caller's key gets that much back, ending in an error. Otherwise the
// whole hold is returned and the key keeps refusing, because it is unknown whether a provider ran the request.
import type { Release } from "../domain/release.ts";
import { chargeOf } from "../pricing/charge.ts";
import type { MoneyOperation } from "./decide/decide.ts";
import type { Owner } from "./decide/resolution.ts";
import { lastTold } from "./last-told.ts";
import type { Settlement, StoredAnswer, Voiding } from "./ledger.ts";
import { type AttemptRecord, OWNER_LOST, type RequestRecord } from "./records.ts";

/** The `errorCode` of a request whose admission was refused because its commit was not known to be durable. */
const NEVER_DISPATCHED = "never_dispatched";

/** An unfinished request without an owner, before any of its possibly damaged data is read. */
export interface Unowned {
  organizationId: string;
  requestId: string;
  epoch: number;
  admittedAtMs: number;
  /** False: provably never sent to a provider, left so by a gateway of an earlier version (decision 75). */
  dispatched: boolean;
}

/** An unowned request together with its last checkpoint. */
export interface Orphan {
  /** Still running, as its owner left it. */
  record: RequestRecord;
  epoch: number;
  /** Null: nothing was provably delivered. */
  progress: { promptTokens: number; deliveredTokens: number; release: Release } | null;
  /** The exact bytes that a caller's key gets back; empty for other requests. */
  sent: Uint8Array;
}

/**
 * Prints a cut stream as it is stored: what was sent, then its end for the settled record; null if it
 * cannot be printed. Provided by the floor that prints answers; this one only knows money.
 */
export type PrintInterrupted = (
  settled: RequestRecord,
  release: Release,
  sent: Uint8Array,
) => StoredAnswer | null;

/** Returns the operation that ends an orphan. */
export function resolveOrphan(
  orphan: Orphan,
  nowMs: number,
  printInterrupted: PrintInterrupted,
): MoneyOperation {
  const { progress } = orphan;
  if (progress === null || progress.deliveredTokens === 0) {
    return {
      kind: "void",
      voiding: {
        ...ending(orphan, nowMs),
        status: 500,
        errorCode: OWNER_LOST,
        freeClaim: false,
        answer: null,
      },
      owner: ownerOf(orphan),
    };
  }
  const settlement = settlementOf(orphan, progress, nowMs);
  const answer =
    orphan.sent.byteLength === 0
      ? null
      : printInterrupted(settledRecord(orphan, settlement), progress.release, orphan.sent);
  return { kind: "settle", settlement: { ...settlement, answer }, owner: ownerOf(orphan) };
}

/**
 * Ends an admission that nobody was told about: nothing was sent, the hold is returned and the key is
 * free again. `status` is what its caller was refused with.
 */
export const neverDispatched = (
  { organizationId, requestId }: { organizationId: string; requestId: string },
  { status, totalMs }: { status: number; totalMs: number },
): Voiding => ({
  organizationId,
  requestId,
  attempts: [],
  totalMs,
  status,
  errorCode: NEVER_DISPATCHED,
  freeClaim: true,
  answer: null,
});

const ownerOf = ({ epoch }: Orphan): Owner => ({ epoch });

const ending = ({ record }: Orphan, nowMs: number): Ending => ({
  organizationId: record.organizationId,
  requestId: record.requestId,
  attempts: record.attempts,
  totalMs: Math.max(0, nowMs - record.admittedAtMs),
});

type Ending = { organizationId: string; requestId: string; attempts: AttemptRecord[]; totalMs: number };

/** Prices prompt and delivered tokens at the frozen price, as for any broken stream (money.md §4). */
function settlementOf(
  orphan: Orphan,
  { promptTokens, deliveredTokens, release }: NonNullable<Orphan["progress"]>,
  nowMs: number,
): Settlement {
  const usage = {
    promptTokens,
    completionTokens: deliveredTokens,
    cachedTokens: null,
    reasoningTokens: null,
  };
  const evidence = "delivered_tokens";
  const { attempts, hold } = orphan.record;
  const told = lastTold(attempts); // its owner may have disappeared between pricing and settlement
  return {
    ...ending(orphan, nowMs),
    releaseDigest: release.digest,
    evidence,
    usage,
    ...chargeOf({ usage, told, price: release.price, hold, evidence }),
    finishReason: null,
    status: 200,
    firstPartMs: null,
    answer: null,
  };
}

const settledRecord = ({ record }: Orphan, settlement: Settlement): RequestRecord => ({
  ...record,
  ...settlement,
  state: "settled",
  endedAtMs: record.admittedAtMs + settlement.totalMs,
  errorCode: null,
});
