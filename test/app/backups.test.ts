// System health shows the last backup: `db backup` records it once it has succeeded, and only then.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, firstOperator } from "../support/browser.ts";
import { testClock } from "../support/clock.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";

const DAY_MS = 86_400_000;
const folder = mkdtempSync(join(tmpdir(), "tollgate-backups-"));
const clock = testClock();
let gateway: TestGateway;
let root: Browser;

beforeAll(async () => {
  gateway = await startGateway({ clock, store: "sqlite" });
  root = await firstOperator(gateway);
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

const shown = async () => (await root.app("GET /operator/health")).backup;
async function backUp(file: string): Promise<number> {
  const { DATABASE_URL: _, ...env } = process.env;
  const words = ["--data-dir", gateway.dataDir, "db", "backup", file];
  const tollgate = join(import.meta.dir, "../../tollgate");
  return await Bun.spawn([tollgate, ...words], { env, stdout: "ignore", stderr: "ignore" }).exited;
}

test("none is overdue; one that succeeded is shown with its time and size, until it is 7 days old", async () => {
  expect(await shown()).toEqual({ last_at: null, bytes: null, overdue: true });
  const file = join(folder, "first");
  expect(await backUp(file)).toBe(0);
  const first = await shown();
  expect(first).toMatchObject({ overdue: false });
  expect(first?.bytes).toBe(statSync(file).size + statSync(`${file}.people`).size);
  expect(Math.abs(Date.parse(first?.last_at ?? "") - Date.now())).toBeLessThan(60_000);
  expect(statSync(join(gateway.dataDir, "last-backup.json")).mode & 0o777).toBe(0o600);

  expect(await backUp(file)).toBe(1); // it exists
  expect(await shown()).toEqual(first);
  clock.advance(8 * DAY_MS);
  expect(await shown()).toEqual({ last_at: null, bytes: null, ...first, overdue: true });
  clock.advance(-8 * DAY_MS);
}, 120_000);

test("a torn file records no backup", async () => {
  writeFileSync(join(gateway.dataDir, "last-backup.json"), '{"at":"2026-');
  expect(await shown()).toEqual({ last_at: null, bytes: null, overdue: true });
});
