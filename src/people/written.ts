// Commits a change of people and its audit line together.
import type { Clock } from "../lib/clock.ts";
import { crashPoint } from "../lib/crash-point.ts";
import type { AuditOutbox } from "./outbox.ts";
import type { People } from "./people.ts";
import type { PeopleStore } from "./store.ts";

interface WrittenOn {
  store: Pick<PeopleStore, "line" | "outbox" | "transactions">;
  clock: Pick<Clock, "nowMs">;
  /** Carries the waiting lines into the log. If that fails they keep waiting: the change is committed. */
  carry(this: void, outbox: AuditOutbox): Promise<void>;
}

export const withLines = ({ store, clock, carry }: WrittenOn): Pick<People, "written"> => ({
  async written(change, line) {
    let told = false;
    const made = await store.transactions.together(async () => {
      const changed = await change();
      const note = await line(changed);
      if (note === null) return changed;
      crashPoint("person_changed");
      await store.line(note, clock.nowMs());
      told = true;
      return changed;
    });
    if (!told || store.transactions.isInside) return made; // the enclosing change commits
    crashPoint("person_committed");
    if (store.outbox !== null) await carry(store.outbox);
    return made;
  },
});
