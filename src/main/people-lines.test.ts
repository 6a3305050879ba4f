// The people's file, which has one connection in a process, however many callers open it at once.
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { systemClock } from "../lib/clock.ts";
import { Jobs } from "../lib/jobs.ts";
import { peopleFile } from "../people/store.ts";
import type { Sql } from "../store/sql.ts";
import { peopleLines } from "./people-lines.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-people-lines-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Lines of a data directory of its own, in which no line waits. */
function linesIn(name: string) {
  const dataDir = join(folder, name);
  mkdirSync(dataDir);
  const config = { dataDir, databaseUrl: null } as Config;
  const jobs = new Jobs({ tell: () => {} });
  return { dataDir, jobs, lines: peopleLines(config, { sql: {} as Sql, clock: systemClock, jobs }) };
}

test("callers that open it at the same time share one connection, until it is closed", async () => {
  const { lines, jobs } = linesIn("shared");
  const [one, other] = await Promise.all([lines.openStore(), lines.openStore()]);
  expect(other).toBe(one);
  expect(await lines.openStore()).toBe(one);
  await lines.carry(); // on the same one
  await one.close();
  const next = await lines.openStore();
  expect(next).not.toBe(one);
  expect(await next.rows("SELECT 1 AS n")).toEqual([{ n: 1 }]);
  await lines.stop();
  expect([...jobs.failures]).toEqual([]);
});

test("a failure to open it is told to each caller, and the next one tries again", async () => {
  const { lines, dataDir } = linesIn("failing");
  mkdirSync(peopleFile(dataDir));
  const tries = await Promise.allSettled([lines.openStore(), lines.openStore()]);
  expect(tries.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  rmSync(peopleFile(dataDir), { recursive: true });
  expect(await (await lines.openStore()).rows("SELECT 1 AS n")).toEqual([{ n: 1 }]);
  await lines.stop();
});
