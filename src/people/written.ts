// A change of people and its line in the audit log, as one.
import type { Clock } from "../lib/clock.ts";
import { crashPoint } from "../lib/crash-point.ts";
import type { AuditOutbox } from "./outbox.ts";
import type { People } from "./people.ts";
import type { PeopleStore } from "./store.ts";

interface WrittenOn {
  store: Pick<PeopleStore, "line" | "outbox" | "transactions">;
  clock: Pick<Clock, "nowMs">;
  /** Carries what waits into the log. Where that fails it waits on: the change is made. */
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
    if (!told || store.transactions.isInside) return made; // whoever is around it commits
    crashPoint("person_committed");
    if (store.outbox !== null) await carry(store.outbox);
    return made;
  },
});
