// Ends unfinished requests that have no owner any more, each by itself: one that cannot be ended is quarantined, held
// and named for an operator, and the others are ended all the same (money.md §9, docs/decisions/0020-one-bad-record.md).
import { crashPoint } from "../lib/crash-point.ts";
import { messageOf } from "../domain/error-message.ts";
import type { MoneyOperation } from "./decide/decide.ts";
import {
  neverDispatched,
  type Orphan,
  type PrintInterrupted,
  resolveOrphan,
  type Unowned,
} from "./recovery.ts";
import { rowId } from "./rows.ts";

interface OrphanStore {
  /** Some of them, those that are quarantined left out. */
  find(): Promise<Unowned[]>;
  /** All of it; throws when it cannot be read. */
  read(unowned: Unowned): Promise<Orphan>;
  /** Resolves when it is durable. */
  submit(operation: MoneyOperation): Promise<unknown>;
  /** Durable when it resolves; the money stays held. */
  quarantine(unowned: Unowned, reason: string): Promise<void>;
  /** Whether the store failed, rather than this record: then the next run tries again. */
  isStoreFailure(error: unknown): boolean;
}

export interface ResolvingPorts {
  store: OrphanStore;
  nowMs(): number;
  printInterrupted: PrintInterrupted;
  /** Told of each that is quarantined. */
  alarm(error: unknown): void;
}

/** Rejects only when the store failed. */
export async function resolveOrphans(on: ResolvingPorts): Promise<void> {
  const tried = new Set<string>();
  const left = new Set<string>();
  for (;;) {
    const found = await on.store.find();
    const news = found.filter((one) => !tried.has(idOf(one)));
    // Ended, by the ledger's word, and still there: it would be found again and again, before others.
    const again = found.filter((one) => tried.has(idOf(one)) && !left.has(idOf(one)));
    if (news.length + again.length === 0) return;
    for (const one of news) tried.add(idOf(one));
    for (const one of again) left.add(idOf(one));
    await Promise.all([
      ...news.map((unowned) => resolveOne(on, unowned)),
      ...again.map((unowned) => setAside(on, unowned, new Error("it was ended, and runs on"))),
    ]);
    crashPoint("in_sweep");
  }
}

const idOf = ({ organizationId, requestId }: Unowned): string => rowId(organizationId, requestId);

async function resolveOne(on: ResolvingPorts, unowned: Unowned): Promise<void> {
  const { store } = on;
  try {
    await store.submit(
      unowned.dispatched
        ? resolveOrphan(await store.read(unowned), on.nowMs(), on.printInterrupted)
        : takenBack(unowned, on.nowMs()),
    );
  } catch (error) {
    if (store.isStoreFailure(error)) throw error;
    await setAside(on, unowned, error);
  }
}

/** For a person to end. */
async function setAside(on: ResolvingPorts, unowned: Unowned, why: unknown): Promise<void> {
  await on.store.quarantine(unowned, messageOf(why));
  on.alarm(new Error(`request ${unowned.requestId} is quarantined: ${messageOf(why)}`, { cause: why }));
}

/** The caller of a request that was never sent saw its gateway go. */
const takenBack = (unowned: Unowned, nowMs: number): MoneyOperation => ({
  kind: "void",
  voiding: neverDispatched(unowned, { status: 500, totalMs: Math.max(0, nowMs - unowned.admittedAtMs) }),
  owner: { epoch: unowned.epoch },
});
