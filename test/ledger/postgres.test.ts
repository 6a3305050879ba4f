// The PostgreSQL store against the conformance suite, on a real server.
import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { printCutStream } from "../../src/gateway/cut-stream.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { openPostgresLedger } from "../../src/ledger/postgres.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { openPostgresStore } from "../../src/store/postgres.ts";
import { testPostgres } from "../support/postgres.ts";
import { ledgerConformance } from "./conformance.ts";

const DAY_MS = 86_400_000;
const idempotency = { bodyRetentionMs: DAY_MS, tombstoneRetentionMs: 30 * DAY_MS };
const folders: string[] = [];
afterAll(() => folders.forEach((made) => rmSync(made, { recursive: true, force: true })));

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "tollgate-ledger-"));
  folders.push(made);
  return made;
}

/** The sweeper sleeps: clocks jump by years here. */
async function open(
  url: string,
  directory: string,
  clock?: Clock,
): Promise<{ ledger: Ledger; close(): Promise<void>; expireLeases(): Promise<void> }> {
  const store = await openPostgresStore(url, directory);
  const ledger = await openPostgresLedger({
    store,
    idempotency,
    printCut: printCutStream,
    sweepEveryMs: DAY_MS,
    ...(clock !== undefined && { clock }),
  });
  return {
    ledger,
    close: async () => {
      await ledger.close();
      await store.close();
    },
    expireLeases: async () => void (await store.pool.query("UPDATE instance SET lease_until = 0")),
  };
}

ledgerConformance("PostgreSQL", async (clock) => {
  const database = await (await testPostgres()).database();
  const directory = folder();
  const opened = [await open(database.url, directory, clock)];
  const [first] = opened;
  if (first === undefined) throw new Error("nothing was opened");
  return {
    ledger: first.ledger,
    crash: async () => {
      await opened.at(-1)?.expireLeases(); // to the database, a process that is gone is one without a lease
      const next = await open(database.url, directory, clock);
      opened.push(next);
      return next.ledger;
    },
    close: async () => {
      for (const one of opened) await one.close();
      await database.drop();
    },
  };
});
