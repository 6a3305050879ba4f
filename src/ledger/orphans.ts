// Ends unfinished requests that no longer have an owner, one by one. A request that cannot be ended is quarantined, stays
// held and is reported to an operator; the others are still ended (money.md §9, docs/decisions/0020-one-bad-record.md).
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
  /** Returns some of them, without those in quarantine. */
  find(): Promise<Unowned[]>;
  /** Returns the whole record; throws if it cannot be read. */
  read(unowned: Unowned): Promise<Orphan>;
  /** Resolves when the operation is durable. */
  submit(operation: MoneyOperation): Promise<unknown>;
  /** Durable when it resolves; the money stays held. */
  quarantine(unowned: Unowned, reason: string): Promise<void>;
  /** True if the store failed rather than this record: the next run then tries again. */
  isStoreFailure(error: unknown): boolean;
}

export interface ResolvingPorts {
  store: OrphanStore;
  nowMs(): number;
  printInterrupted: PrintInterrupted;
  /** Called for each quarantined request. */
  alarm(error: unknown): void;
}

/** Rejects only if the store failed. */
export async function resolveOrphans(on: ResolvingPorts): Promise<void> {
  const tried = new Set<string>();
  const left = new Set<string>();
  for (;;) {
    const found = await on.store.find();
    const news = found.filter((one) => !tried.has(idOf(one)));
    // The ledger reported it as ended, yet it is still there: it would be found again and again, before others.
    const again = found.filter((one) => tried.has(idOf(one)) && !left.has(idOf(one)));
    if (news.length + again.length === 0) return;
    for (const one of news) tried.add(idOf(one));
    for (const one of again) left.add(idOf(one));
    await Promise.all([
      ...news.map((unowned) => resolveOne(on, unowned)),
      ...again.map((unowned) =>
        setAside(on, unowned, new Error("it was ended, but is still stored as running")),
      ),
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

/** Leaves the request for a person to end. */
async function setAside(on: ResolvingPorts, unowned: Unowned, why: unknown): Promise<void> {
  await on.store.quarantine(unowned, messageOf(why));
  on.alarm(new Error(`request ${unowned.requestId} is quarantined: ${messageOf(why)}`, { cause: why }));
}

/** The caller of a request that was never sent saw its gateway disappear. */
const takenBack = (unowned: Unowned, nowMs: number): MoneyOperation => ({
  kind: "void",
  voiding: neverDispatched(unowned, { status: 500, totalMs: Math.max(0, nowMs - unowned.admittedAtMs) }),
  owner: { epoch: unowned.epoch },
});
