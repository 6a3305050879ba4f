// SIGTERM and SIGINT while `serve` starts: obeyed at every stage, whatever it waits for, with exit code 0; and the
// next start finds nothing wrong.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { PostgresServer } from "../support/postgres.ts";
import { type Served, serveProcess } from "../support/served.ts";
import { waitFor } from "../support/wait.ts";

const PATIENCE_MS = 90_000;
/**
 * Less than any of the waits interrupted here would take (a lost database's answer: 7 s), and long even for a slow
 * machine.
 */
const OBEYS_WITHIN_MS = 6_000;
const SIGNALS = ["SIGTERM", "SIGINT"] as const;

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** An installation that is started again and again. */
interface Installation {
  folder: string;
  databaseUrl?: string;
}

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-stopped-"));
  folders.push(folder);
  return folder;
};

const serve = ({ folder, databaseUrl }: Installation, args: string[] = []): Served =>
  serveProcess({
    folder,
    args: ["--port", "0", "--data-dir", join(folder, "data"), ...args],
    env: databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl },
  });

async function obeys(gateway: Served, signal: (typeof SIGNALS)[number]): Promise<void> {
  const sentMs = performance.now();
  gateway.child.kill(signal);
  const { code, signal: killedBy, stderr } = await gateway.ended;
  expect({ code, killedBy, stderr }).toEqual({ code: 0, killedBy: null, stderr: "" });
  expect(performance.now() - sentMs).toBeLessThan(OBEYS_WITHIN_MS);
}

/** A start that completes, and ends normally. */
async function startsAndEnds(installation: Installation): Promise<void> {
  const operator = join(installation.folder, "data/operator.json");
  rmSync(operator, { force: true });
  const gateway = serve(installation);
  await waitFor(async () => existsSync(operator), "a start that runs through");
  await obeys(gateway, "SIGTERM");
}

describe("with the embedded store", () => {
  test.each([0, 60, 120, 180, 240, 320, 400, 500, 700])(
    "%p ms after its beginning",
    async (afterMs) => {
      const installation = { folder: newFolder() };
      const gateway = serve(installation);
      await Bun.sleep(afterMs);
      gateway.child.kill("SIGTERM");
      const { code, signal, stderr } = await gateway.ended;
      // Before its first line of code the kernel ends it.
      expect([0, null]).toContain(code);
      expect(signal).toBe(code === 0 ? null : "SIGTERM");
      expect(stderr).toBe("");
      await startsAndEnds(installation);
    },
    PATIENCE_MS,
  );
});

describe("with PostgreSQL", () => {
  /** In the order of the start: what it waits for when the signal comes. */
  const MIGRATING = {
    "the migration of another": "advisory_xact_lock",
    "a migration of its own": "INSERT INTO schema_migration",
  };
  const MIGRATED = {
    "its number": "UPDATE store_state SET epoch",
    "its lease": "INSERT INTO instance",
    "its first writer": "SHOW transaction_read_only",
    "the recovery of what others left": "SET condemned = true",
    "its releases": "JOIN route_release",
    "the first organization": "INSERT INTO organization",
    "its operator's key": "INSERT INTO management_key",
    "its people": "CREATE SCHEMA people",
  };
  let server: PostgresServer;
  let silent: Server;
  beforeAll(async () => {
    server = await PostgresServer.start();
    silent = createServer((socket) => socket.resume().on("error", () => {}));
    await new Promise<void>((listening) => silent.listen(0, "127.0.0.1", listening));
  }, PATIENCE_MS);
  afterAll(async () => {
    await new Promise((closed) => silent.close(closed));
    await server.stop();
  });

  /** As many starts at a time as a machine has processors: more would only be late together. */
  const lanes = [Promise.resolve(), Promise.resolve()];
  const inTurn = (index: number, work: () => Promise<void>): Promise<void> => {
    const lane = index % lanes.length;
    const done = (lanes[lane] ?? Promise.resolve()).then(work);
    lanes[lane] = done.catch(() => {});
    return done;
  };

  // Each on a database of its own.
  const moments = Object.entries({ ...MIGRATING, ...MIGRATED }).map(([moment, word], index) => ({
    moment,
    word,
    index,
  }));
  test.concurrent.each(moments)(
    "while it waits for $moment",
    ({ moment, word, index }) =>
      inTurn(index, async () => {
        const database = await (moment in MIGRATING ? server.database() : server.migrated());
        const proxy = await CuttingProxy.start(database.url);
        const folder = newFolder();
        try {
          proxy.cutAt(word, "silent");
          const gateway = serve({ folder, databaseUrl: proxy.through(database.url) });
          await waitFor(async () => proxy.cuts === 1, "the moment");
          await obeys(gateway, index % 2 === 0 ? "SIGTERM" : "SIGINT");
        } finally {
          await proxy.stop();
        }
        await startsAndEnds({ folder, databaseUrl: database.url });
      }),
    3 * PATIENCE_MS,
  );

  test.concurrent(
    "while it waits for a database that accepts the connection and says nothing",
    async () => {
      const url = new URL((await server.database()).url);
      const address = silent.address();
      url.port = String(typeof address === "object" && address !== null ? address.port : 0);
      const connected = new Promise((resolve) => silent.once("connection", resolve));
      const gateway = serve({ folder: newFolder(), databaseUrl: url.href });
      await connected;
      await obeys(gateway, "SIGTERM");
    },
    PATIENCE_MS,
  );

  test.concurrent(
    "while another session holds the lock of migrations, for one gateway and for several workers",
    () =>
      inTurn(moments.length, async () => {
        const { url } = await server.database();
        const other = new pg.Client({ connectionString: url });
        await other.connect();
        await other.query("SELECT pg_advisory_lock(8041990771)");
        const waiting = async (): Promise<boolean> => {
          const { rows } = await other.query(
            "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
          );
          return rows.length === 1;
        };
        for (const signal of SIGNALS)
          for (const args of [[], ["--workers", "2"]]) {
            const gateway = serve({ folder: newFolder(), databaseUrl: url }, args);
            await waitFor(waiting, "a gateway that waits");
            await obeys(gateway, signal);
            await waitFor(async () => !(await waiting()), "its session to end");
          }
        await other.end();
      }),
    3 * PATIENCE_MS,
  );
});
