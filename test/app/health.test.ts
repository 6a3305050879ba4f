// What operators see of a gateway's health: how fast its store commits, when it was swept, who shares it, and how
// many requests were refused for lack of room.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settingsDigest } from "../../src/config/file-digest.ts";
import { type Browser, firstOperator } from "../support/browser.ts";
import { hello, startGateway, STORES, type Store, type TestGateway } from "../support/gateway.ts";

const PATIENCE_MS = 60_000;

/** Both from the beginning: the first upkeep of one happens while the other one is tested. */
let folder: string;
const files = {} as Record<Store, string>;
const FILE = "log: { level: silent }\n";
const gateways = {} as Record<Store, TestGateway>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-health-"));
  for (const store of STORES) {
    files[store] = join(folder, `${store}.yaml`);
    writeFileSync(files[store], FILE);
    gateways[store] = await startGateway({
      store,
      configure: (config) => {
        config.limits.maxConcurrent = 1;
        Object.assign(config, { file: files[store], fileDigest: settingsDigest(FILE) });
      },
    });
  }
});
afterAll(async () => {
  for (const store of STORES) await gateways[store].stop();
  rmSync(folder, { recursive: true, force: true });
});

describe.each(STORES)("on %s", (store) => {
  let gateway: TestGateway;
  let root: Browser;
  beforeAll(async () => {
    gateway = gateways[store];
    root = await firstOperator(gateway);
  });

  const health = () => root.app("GET /operator/health");

  test("each commit counts, with its operations and its time", async () => {
    const { commits: before, schema_version } = await health();
    expect(schema_version).toBeGreaterThan(4);
    expect((await gateway.chat(await gateway.customer(), hello())).status).toBe(200);
    const { commits: after } = await health();
    expect(after.of).toBeGreaterThan(before.of);
    expect(after.waiting).toBe(0);
    expect(after.operations_mean).toBeGreaterThanOrEqual(1);
    expect(after.operations_most).toBeGreaterThanOrEqual(Math.floor(after.operations_mean ?? 0));
    expect(after.ms_p50).toBeGreaterThan(0);
    expect(after.ms_p99).toBeGreaterThanOrEqual(after.ms_p50 ?? 0);
  });

  test("a request that found no room counts, and is in the metrics", async () => {
    const customer = await gateway.customer();
    const { overload_refusals: before } = await health();
    const answers = await Promise.all(Array.from({ length: 8 }, () => gateway.chat(customer, hello())));
    const refused = answers.filter(({ status }) => status === 503).length;
    expect(refused).toBeGreaterThan(0);
    expect((await health()).overload_refusals - before).toBe(refused);
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toContain(`tollgate_overload_refusals_total ${before + refused}`);
  });

  test("a configuration file that has changed or disappeared since it was read", async () => {
    const changed = async () => (await health()).configuration;
    expect(await changed()).toEqual({ file_changed: false });
    writeFileSync(files[store], "log: { level: silent } # another one\n");
    expect(await changed()).toEqual({ file_changed: true });
    writeFileSync(files[store], FILE);
    expect(await changed()).toEqual({ file_changed: false });
    rmSync(files[store]);
    expect(await changed()).toEqual({ file_changed: true });
  });

  test("the gateways that share the store hold their leases; SQLite has none to share", async () => {
    const { gateways } = await health();
    expect(gateways.map(({ valid }) => valid)).toEqual(store === "sqlite" ? [] : [true]);
  });

  test("the clock is compared with the database's, if there is one", async () => {
    const { clock_offset_ms } = await health();
    if (store === "sqlite") expect(clock_offset_ms).toBeNull();
    else expect(clock_offset_ms).toBeWithin(-1000, 1000);
  });

  test("the upkeep shows when it last ran", async () => {
    const began = Date.now();
    let swept: string | null = null;
    while (swept === null && Date.now() - began < PATIENCE_MS) {
      swept = (await health()).last_sweep_at;
      await Bun.sleep(100);
    }
    expect(Math.abs(Date.parse(swept ?? "") - Date.now())).toBeLessThan(PATIENCE_MS);
  }, 120_000);
});
