// The keys in `operator.json` if several gateways share a store, and each start may have a new directory.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { byItself } from "../../src/domain/actor.ts";
import { renewOperatorKey } from "../../src/main/operator-file.ts";
import { revokeManagementKey } from "../../src/registry/management-keys.ts";
import { testClock } from "../support/clock.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";
import { freePort, type TestDatabase, testPostgres } from "../support/postgres.ts";
import { type Served, serveProcess } from "../support/served.ts";
import { HOUR_MS, waitFor } from "../support/wait.ts";

const clock = testClock();
let database: TestDatabase;
let first: TestGateway;
beforeAll(async () => {
  database = await (await testPostgres()).migrated();
  first = await pod();
}, 120_000);
afterAll(async () => {
  await first.stop();
  await database.drop();
});

/** A gateway in a directory of its own. */
const pod = (): Promise<TestGateway> =>
  startGateway({
    clock,
    models: [],
    configure: (config) => {
      config.databaseUrl = database.url;
      if (first !== undefined)
        copyFileSync(join(first.dataDir, "data.key"), join(config.dataDir, "data.key"));
    },
  });
const tokenIn = (dataDir: string): string =>
  (JSON.parse(readFileSync(join(dataDir, "operator.json"), "utf8")) as { token: string }).token;
/** The first gateway's answer to this key. */
const asked = async (token: string): Promise<number> =>
  (await fetch(`${first.url}/admin/v1/organizations`, { headers: { authorization: `Bearer ${token}` } }))
    .status;

test("a gateway that stops takes its key with it", async () => {
  const second = await pod();
  const token = tokenIn(second.dataDir);
  expect(await asked(token)).toBe(200);
  await second.stop();
  expect(await asked(token)).toBe(401);
}, 120_000);

test("one that was killed leaves a key that expires within a day; that of a running one is renewed", async () => {
  const killed = await pod();
  const tokens = [tokenIn(killed.dataDir), tokenIn(first.dataDir)];
  const all = (): Promise<number[]> => Promise.all(tokens.map(asked));
  clock.advance(23 * HOUR_MS);
  expect(await all()).toEqual([200, 200]);
  await renewOperatorKey({ ledger: first.ledger, dataDir: first.dataDir });
  clock.advance(2 * HOUR_MS);
  expect(await all()).toEqual([401, 200]);
  // A clock that was set forward costs the command line ten minutes, not its key.
  clock.advance(100 * HOUR_MS);
  expect(await all()).toEqual([401, 401]);
  await renewOperatorKey({ ledger: first.ledger, dataDir: first.dataDir });
  expect(await all()).toEqual([401, 200]);
  await killed.stop();
}, 120_000);

test("no renewal brings back a key that was revoked", async () => {
  const other = await pod();
  const token = tokenIn(other.dataDir);
  const { id } = JSON.parse(readFileSync(join(other.dataDir, "operator.json"), "utf8")) as { id: string };
  await revokeManagementKey(first.ledger, id, byItself("test"));
  await renewOperatorKey({ ledger: other.ledger, dataDir: other.dataDir });
  expect(await asked(token)).toBe(401);
  await other.stop();
}, 120_000);

test("of two gateways in one directory the file is the first one's, with a key that works, until that one ends; then the other's", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-one-directory-"));
  const dataDir = join(folder, "data");
  const shared = await (await testPostgres()).migrated();
  const begun: Served[] = [];
  const begin = (port = 0): Served => {
    const gateway = serveProcess({
      folder,
      args: ["--port", String(port), "--data-dir", dataDir],
      env: { DATABASE_URL: shared.url },
    });
    begun.push(gateway);
    return gateway;
  };
  const file = (): { url: string; token: string } =>
    JSON.parse(readFileSync(join(dataDir, "operator.json"), "utf8")) as { url: string; token: string };
  const works = async (): Promise<boolean> => {
    const { url, token } = file();
    const asking = fetch(`${url}/admin/v1/organizations`, { headers: { authorization: `Bearer ${token}` } });
    return (await asking.catch(() => null))?.status === 200;
  };
  try {
    const one = begin();
    await waitFor(async () => existsSync(join(dataDir, "operator.json")), "the first gateway");
    const first = file();
    const port = await freePort();
    const other = begin(port);
    const answers = async (): Promise<boolean> =>
      (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.status === 200;
    await waitFor(answers, "the second gateway");
    expect([file(), await works()]).toEqual([first, true]);

    one.child.kill("SIGTERM");
    await one.ended;
    await waitFor(works, "the second one's file");
    expect(file().url).not.toBe(first.url);

    const second = file();
    other.child.kill("SIGKILL");
    await other.ended;
    begin();
    await waitFor(async () => file().url !== second.url && (await works()), "the third one's file");
    const stale = await fetch(`${file().url}/admin/v1/organizations`, {
      headers: { authorization: `Bearer ${second.token}` },
    });
    expect(stale.status).toBe(401);
  } finally {
    for (const { child } of begun) child.kill("SIGTERM");
    await Promise.all(begun.map(({ ended }) => ended));
    await shared.drop();
    rmSync(folder, { recursive: true, force: true });
  }
}, 120_000);
