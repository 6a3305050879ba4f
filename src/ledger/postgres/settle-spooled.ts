// What processes of this directory could not settle before they ended (money.md §2): each settlement by itself, before
// recovery may decide its request anew.
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
  /** Whose requests are still their own. */
  owning(): Promise<ReadonlySet<number>>;
  submit(this: void, operation: MoneyOperation): Promise<unknown>;
  jobs: Jobs;
}

/** Throws where the store takes nothing now: then it is tried again. */
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
    // Its request is an orphan like any other, unless the line says which one it is: then its end was decided already,
    // and recovery must not decide it anew where the line cannot be set aside.
    const { place } = entry;
    if (place !== null) await putInQuarantine(on, place, `its spooled settlement: ${messageOf(error)}`);
    spool.setAside(entry);
    const which = place?.requestId ?? "of no legible request";
    jobs.failed("ledger_spool", new Error(`a spooled settlement (${which}) was set aside`, { cause: error }));
  }
}
