// Settles what processes of this directory could not settle before they ended (money.md §2): each
// settlement by itself, before recovery may decide its request again.
import type { Jobs } from "../../lib/jobs.ts";
import { messageOf } from "../../domain/error-message.ts";
import type { Leftover, Spool } from "../commit/spool.ts";
import type { MoneyOperation } from "../decide/decide.ts";
import type { Transactions } from "../ledger.ts";
import { putInQuarantine } from "../quarantine.ts";
import { refusedByStore } from "./sweep.ts";

interface SettleSpooledOn {
  on: Transactions;
  spool: Pick<Spool, "leftovers" | "setAside">;
  /** Returns the epochs that still own their requests. */
  owning(): Promise<ReadonlySet<number>>;
  submit(this: void, operation: MoneyOperation): Promise<unknown>;
  jobs: Jobs;
}

/** Throws if the store takes nothing now; the caller then tries again. */
export async function settleSpooled(ports: SettleSpooledOn): Promise<void> {
  for (const left of await ports.spool.leftovers(() => ports.owning())) {
    await Promise.all(left.entries.map((entry) => settle(entry, ports)));
    left.forget();
  }
}

async function settle(entry: Leftover, { on, spool, submit, jobs }: SettleSpooledOn): Promise<void> {
  try {
    await submit(entry.read());
  } catch (error) {
    if (refusedByStore(error)) throw error;
    // The request is now an orphan like any other, unless the line says which one it is: then its end
    // was already decided, and recovery must not decide it again if the line cannot be set aside.
    const { place } = entry;
    if (place !== null) await putInQuarantine(on, place, `its spooled settlement: ${messageOf(error)}`);
    spool.setAside(entry);
    const which = place?.requestId ?? "of an unreadable request";
    jobs.failed("ledger_spool", new Error(`a spooled settlement (${which}) was set aside`, { cause: error }));
  }
}
