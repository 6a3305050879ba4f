// A database that answers and takes no writes, because it was made read-only or its disk is full: `/readyz` is off and new
// requests get 503 at once, running streams go on and settle when there is room again, by itself (money.md §12, fault 10).
import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
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
import { PROGRAM } from "../support/program.ts";

let server: PostgresServer;
let gateway: ProcessGateway;
let admin: pg.Client;
let url: string;
beforeEach(async () => {
  server = await PostgresServer.start();
  ({ url } = await server.database());
  admin = new pg.Client({ connectionString: url });
  admin.on("error", () => {});
  await admin.connect();
}, 120_000);
afterEach(async () => {
  await gateway.stop();
  await admin.end();
  await server.stop();
});

const ask = (more: object = {}): object => ({
  model: "plain-1",
  messages: [{ role: "user", content: "Hello" }],
  max_tokens: 200,
  ...more,
});
const readyz = async (): Promise<number | null> => (await gateway.get("/readyz")).status;

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await Bun.sleep(50);
}

/** A refusal comes at once: what takes longer was admitted. */
const ADMITTED_MS = 2_000;

/** Takes the writes away under traffic, and gives them back. */
async function endures(take: () => Promise<void>, giveBack: () => Promise<void>): Promise<void> {
  const { organizationId, secret } = await gateway.customer();
  const behaviour = { tokens_per_second: 30, completion_tokens: 90 };
  await fetch(`${gateway.simulator.url}/_sim`, { method: "POST", body: JSON.stringify({ behaviour }) });
  const running = [
    gateway.listen(secret, ask({ stream: true })),
    gateway.listen(secret, ask({ stream: true }), { "idempotency-key": "no-room-now" }),
  ];
  await untilParts(running, 5);
  await take();
  // What finds room for its admission, between the rows of a page, may find none for its settlement: it waits.
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
  await until(async () => (await heldOf(organizationId)) === "0.000000000");
  expect(await gateway.admin("GET", "/ledger/audit")).toMatchObject({ ok: true, violations: [] });
  await Bun.sleep(2_000);
  const lines = gateway.log
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { level: number; msg: string });
  expect(lines.filter(({ level }) => level >= 50).map(({ msg }) => msg)).toEqual([
    expect.stringContaining("the store is away"),
  ]);
}

async function heldOf(organizationId: string): Promise<string | undefined> {
  const balance = await gateway.admin<Record<string, string>>("GET", `/credits?org=${organizationId}`);
  return balance["held_usd"];
}

test("a database that is made read-only", async () => {
  gateway = await ProcessGateway.start({ DATABASE_URL: url, TOLLGATE_LOG_LEVEL: "error" });
  const name = new URL(url).pathname.slice(1);
  await endures(
    async () => {
      await admin.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
      // As a pooler or a failover does: sessions end, the next ones are read-only.
      await admin.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'tollgate%'",
      );
    },
    async () => void (await admin.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`)),
  );
}, 120_000);

const disk = mkdtempSync(join(tmpdir(), "tollgate-disk-"));
const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=32m,mode=777", "tmpfs", disk]).success;
afterAll(() => {
  if (mounted) Bun.spawnSync(["umount", "--lazy", disk]);
  rmSync(disk, { recursive: true, force: true });
});

// Needs the right to mount a small disk.
test.skipIf(!mounted)(
  "a database whose disk is full",
  async () => {
    const place = join(disk, "tables");
    mkdirSync(place);
    chmodSync(place, 0o700);
    const { uid, gid } = statSync(server.directory);
    chownSync(place, uid, gid);
    await admin.query(`CREATE TABLESPACE small LOCATION '${place}'`);
    await admin.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_tablespace = small`);
    const hog = join(disk, "hog");
    fillDisk(hog);
    expect(saidByAStart(url)).toEqual([
      1,
      expect.stringContaining(`${new URL(url).pathname} has no space left; make room and start again`),
    ]);
    rmSync(hog);
    gateway = await ProcessGateway.start({ DATABASE_URL: url, TOLLGATE_LOG_LEVEL: "error" });
    await endures(
      async () => fillDisk(hog),
      async () => rmSync(hog),
    );
  },
  120_000,
);

/** Exit code and words of a gateway that cannot start. */
function saidByAStart(databaseUrl: string): [number, string] {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-no-start-"));
  const { exitCode, stderr } = Bun.spawnSync([PROGRAM, "serve", "--port", "0", "--data-dir", folder], {
    env: { ...process.env, DATABASE_URL: databaseUrl, TOLLGATE_LOG_LEVEL: "silent" },
    cwd: folder,
  });
  rmSync(folder, { recursive: true, force: true });
  return [exitCode, stderr.toString()];
}

/** Writes the file until nothing more fits on its disk. */
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
