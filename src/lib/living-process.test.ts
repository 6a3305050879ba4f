import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { isAlive } from "./living-process.ts";

/** The user `nobody`, if these tests may switch to it. */
const OTHER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

test("this process is alive, an ended one is not", () => {
  const { pid } = spawnSync("true");
  expect([isAlive(process.pid), isAlive(pid)]).toEqual([true, false]);
});

test("a process of another user is alive", () => {
  // The first process always belongs to the system.
  const asked = `process.stdout.write(String((${isAlive.toString()})(1)))`;
  const { stdout } = spawnSync(process.execPath, ["-e", asked], { ...OTHER, cwd: "/", encoding: "utf8" });
  expect(stdout).toBe("true");
});
