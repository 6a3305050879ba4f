// A database that answers and accepts no writes, because it was made read-only or its disk is full: `/readyz` is off
// and new requests get 503 at once, running streams continue and settle when there is room again, by themselves
// (money.md §12, fault 10).
import { afterAll, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { PostgresServer } from "../support/postgres.ts";
import { ProcessGateway, type Received, untilParts } from "../support/process-gateway.ts";
import { PROGRAM, runToEnd } from "../support/program.ts";
import { SmallDisk } from "../support/small-disk.ts";
import { waitFor } from "../support/wait.ts";

interface Installation {
  server: PostgresServer;
  admin: pg.Client;
  /** Of the gateway's database. */
  url: string;
}

/** Each test has its own server and mostly waits for it, so they run concurrently. */
async function onOneServer(run: (on: Installation) => Promise<void>): Promise<void> {
  const server = await PostgresServer.start();
  const { url } = await server.database();
  const admin = new pg.Client({ connectionString: url });
  admin.on("error", () => {});
  await admin.connect();
  try {
    await run({ server, admin, url });
  } finally {
    await admin.end();
    await server.stop();
  }
}

const ask = (more: object = {}): object => ({
  model: "plain-1",
  messages: [{ role: "user", content: "Hello" }],
  max_tokens: 200,
  ...more,
});

/** Rarely enough that a store whose disk is full is not back and away again in between. */
const ASK_EVERY_MS = 50;

const until = (holds: () => Promise<boolean>): Promise<void> =>
  waitFor(async () => (await holds()) || (await Bun.sleep(ASK_EVERY_MS), false), "what the test is about");

/** A refusal comes at once: what takes longer was admitted. */
const ADMITTED_MS = 6_000;

/** A gateway that loses the ability to write under traffic, and gets it back. */
async function endures(url: string, take: () => Promise<void>, giveBack: () => Promise<void>): Promise<void> {
  const gateway = await ProcessGateway.start({ DATABASE_URL: url, TOLLGATE_LOG_LEVEL: "error" });
  try {
    await enduresOn(gateway, take, giveBack);
  } finally {
    await gateway.stop();
  }
}

async function enduresOn(
  gateway: ProcessGateway,
  take: () => Promise<void>,
  giveBack: () => Promise<void>,
): Promise<void> {
  const readyz = async (): Promise<number | null> => (await gateway.get("/readyz")).status;
  const { organizationId, secret } = await gateway.customer();
  const behaviour = { tokens_per_second: 30, completion_tokens: 90 };
  await fetch(`${gateway.simulator.url}/_sim`, { method: "POST", body: JSON.stringify({ behaviour }) });
  const running = [
    gateway.listen(secret, ask({ stream: true })),
    gateway.listen(secret, ask({ stream: true }), { "idempotency-key": "no-room-now" }),
  ];
  await untilParts(running, 5);
  await take();
  // A request that fits between the rows of a page for its admission may find no room for its settlement: it waits.
  const last: Promise<Received>[] = [];
  await until(async () => {
    const asked = gateway.chat(secret, ask({ max_tokens: 1 }));
    last.push(asked);
    return (await Promise.race([asked, Bun.sleep(500)]))?.status === 503;
  });
  await until(async () => (await readyz()) === 503);
  const refused: Received[] = [];
  const readiness = new Set<number | null>();
  for (let round = 0; round < 30; round += 1) {
    const asked = gateway.chat(secret, ask());
    const answer = await Promise.race([asked, Bun.sleep(ADMITTED_MS)]);
    if (answer === undefined || answer.status === 200) last.push(asked);
    else {
      refused.push(answer);
      readiness.add(await readyz());
    }
    await Bun.sleep(100);
  }
  expect(refused.length).toBeGreaterThan(20);
  const saying = ({ status, headers, error }: Received): string =>
    `${status} ${headers.get("retry-after")}${error === null ? "" : `: ${error}`}`;
  expect(new Set(refused.map(saying))).toEqual(new Set(["503 1"]));
  expect(readiness).toEqual(new Set([503]));
  await giveBack();
  await until(async () => (await readyz()) === 200);
  const statuses = (await Promise.all(last)).map(({ status }) => status);
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  for (const { text, whole } of await Promise.all(running.map(({ ended }) => ended)))
    expect([whole, text.includes("data: [DONE]")]).toEqual([true, true]);
  expect((await gateway.chat(secret, ask())).status).toBe(200);
  await until(async () => (await heldOf(gateway, organizationId)) === "0.000000000");
  expect(await gateway.admin("GET", "/ledger/audit")).toMatchObject({ ok: true, violations: [] });
  await waitFor(async () => gateway.log.includes("the store is unavailable"), "the line in the log");
  await Bun.sleep(2_000); // any other one would be there
  const lines = gateway.log
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { level: number; msg: string });
  expect(lines.filter(({ level }) => level >= 50).map(({ msg }) => msg)).toEqual([
    expect.stringContaining("the store is unavailable"),
  ]);
}

async function heldOf(gateway: ProcessGateway, organizationId: string): Promise<string | undefined> {
  const balance = await gateway.admin<Record<string, string>>("GET", `/credits?org=${organizationId}`);
  return balance["held_usd"];
}

test.concurrent("a database that is made read-only", async () => {
  await onOneServer(async ({ admin, url }) => {
    const name = new URL(url).pathname.slice(1);
    await endures(
      url,
      async () => {
        await admin.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
        // As a pooler or a failover does: sessions end, the next ones are read-only.
        await admin.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'tollgate%'",
        );
      },
      async () => void (await admin.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`)),
    );
  });
}, 240_000);

const disk = SmallDisk.mount(32, { mode: "777" });
afterAll(() => disk.release());

// Needs the right to mount a small disk.
test.concurrent.skipIf(!disk.isMounted)(
  "a database whose disk is full",
  async () => {
    await onOneServer(async ({ server, admin, url }) => {
      const place = join(disk.path, "tables");
      mkdirSync(place);
      chmodSync(place, 0o700);
      const { uid, gid } = statSync(server.directory);
      chownSync(place, uid, gid);
      await admin.query(`CREATE TABLESPACE small LOCATION '${place}'`);
      await admin.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_tablespace = small`);
      const hog = join(disk.path, "hog");
      fillDisk(hog);
      expect(await saidByAStart(url)).toEqual([
        1,
        expect.stringMatching(
          new RegExp(
            `${new URL(url).pathname} has no space left \\(.+\\); free some space, then start again`,
          ),
        ),
      ]);
      rmSync(hog);
      await endures(
        url,
        async () => fillDisk(hog),
        async () => rmSync(hog),
      );
    });
  },
  240_000,
);

/** Exit code and output of a gateway that cannot start. */
async function saidByAStart(databaseUrl: string): Promise<[number, string]> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-no-start-"));
  const { code, err } = await runToEnd(PROGRAM, ["serve", "--port", "0", "--data-dir", folder], {
    env: { ...process.env, DATABASE_URL: databaseUrl, TOLLGATE_LOG_LEVEL: "silent" },
    cwd: folder,
  });
  rmSync(folder, { recursive: true, force: true });
  return [code, err];
}

/** Writes the file until its disk is full. */
function fillDisk(path: string): void {
  const file = openSync(path, "w");
  for (let size = 1 << 20; size >= 1; ) {
    try {
      writeSync(file, Buffer.alloc(size));
    } catch {
      size >>= 1; // full for pieces of this size
    }
  }
  closeSync(file);
}
