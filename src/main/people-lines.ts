// Moves audit lines about people from the people's file to the audit log: right after each change, at the start, and every
// minute (docs/decisions/0087-lines-about-people-are-one-with-their-change.md). On PostgreSQL there is nothing to move.
import { existsSync } from "node:fs";
import type { Config } from "../config/config.ts";
import { messageOf } from "../domain/error-message.ts";
import type { Clock } from "../lib/clock.ts";
import type { Jobs } from "../lib/jobs.ts";
import { carryLines } from "../people/outbox.ts";
import { openPeopleStore } from "../people/open-store.ts";
import { peopleFile, type PeopleStore } from "../people/store.ts";
import type { Sql } from "../store/sql.ts";

const JOB = "audit_outbox";
const EVERY_MS = 60_000;

export interface PeopleLines {
  /** Opens the people's store, in which the lines wait; all callers in this process share one connection. */
  openStore(this: void): Promise<PeopleStore>;
  /** Resolves when all waiting lines were moved, or cannot be moved now. */
  carry(this: void): Promise<void>;
  stop(): Promise<void>;
}

interface LinesOn {
  sql: Sql;
  clock: Clock;
  jobs: Jobs;
}

export function peopleLines(config: Config, { sql, clock, jobs }: LinesOn): PeopleLines {
  const place = { dataDir: config.dataDir, databaseUrl: config.databaseUrl };
  if (place.databaseUrl !== null)
    return { openStore: () => openPeopleStore(place), carry: async () => {}, stop: async () => {} };
  /** Shared by all callers, also while it opens; reset when it is closed or fails to open. */
  let opening: Promise<PeopleStore> | null = null;
  const opened = (): Promise<PeopleStore> => (opening ??= open());
  const open = (): Promise<PeopleStore> => {
    const forget = (): void => {
      if (opening === own) opening = null;
    };
    const own = openPeopleStore(place).then((store) => ({
      ...store,
      close: async () => {
        forget();
        await store.close();
      },
    }));
    own.catch(forget);
    return own;
  };
  // A line that cannot be moved is retried every time, but reported once.
  const told = new Set<string>();
  const failed = (error: Error): void => {
    if (told.has(error.message)) return;
    told.add(error.message);
    jobs.failed(JOB, new Error(`${error.message}: ${messageOf(error.cause)}`, { cause: error.cause }));
  };
  const carrying = jobs.every(JOB, EVERY_MS, async () => {
    if (!existsSync(peopleFile(config.dataDir))) return;
    const { outbox } = await opened();
    await outbox?.prepare();
    if (outbox !== null) await carryLines(outbox, { sql, nowMs: () => clock.nowMs(), failed });
  });
  jobs.run(JOB, () => carrying.now());
  return {
    openStore: opened,
    carry: () => carrying.now(),
    stop: async () => {
      await carrying.stop();
      const store = await opening?.catch(() => null); // reported to the caller that opened it
      await store?.close();
    },
  };
}
