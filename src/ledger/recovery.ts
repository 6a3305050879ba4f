// What is done with requests whose owner is gone (money.md §2, §9): nothing was provably delivered, so the whole hold
// goes back and the idempotency key keeps refusing, because nobody knows whether a provider ran the request.
// Settling for stored chunks or checkpoints belongs here once those are kept.
import type { MoneyOperation } from "./decide.ts";

/** `errorCode` of a request that was released without its owner. */
export const OWNER_LOST = "owner_lost";
/** `errorCode` of a request whose admission was refused because its commit was not known to be durable. */
export const NEVER_DISPATCHED = "never_dispatched";

export interface Orphan {
  organizationId: string;
  requestId: string;
  epoch: number;
  admittedAtMs: number;
}

/** The operation that ends an orphan; `status` is what a client that still waits would have been told. */
export function resolveOrphan(orphan: Orphan, nowMs: number): MoneyOperation {
  return {
    kind: "void",
    voiding: { ...ending(orphan, nowMs), errorCode: OWNER_LOST, freeClaim: false },
    owner: ownerOf(orphan),
  };
}

/** The operation that takes back an admission nobody was told about: nothing was sent, the key is free again. */
export function takeBack(orphan: Orphan, nowMs: number): MoneyOperation {
  return {
    kind: "void",
    voiding: { ...ending(orphan, nowMs), errorCode: NEVER_DISPATCHED, freeClaim: true },
    owner: ownerOf(orphan),
  };
}

const ownerOf = ({ epoch }: Orphan) => ({ epoch, tried: [] });

const ending = ({ organizationId, requestId, admittedAtMs }: Orphan, nowMs: number) => ({
  organizationId,
  requestId,
  status: 500,
  attempts: [],
  totalMs: Math.max(0, nowMs - admittedAtMs),
  answer: null,
});
