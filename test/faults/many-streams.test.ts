// Many concurrent streams to one provider (money.md §12 fault 55): Bun's fetch opens 256 connections by default, and
// silently queues the rest.
import { expect, test } from "bun:test";
import { join } from "node:path";

test("600 streams at once are 600 upstream connections at once; none waits silently", async () => {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "many-streams.ts")], {
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "65335" },
    stdout: "pipe",
    stderr: "inherit",
  });
  const printed = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  expect(JSON.parse(printed)).toEqual({ complete: 600, atOnce: 600 });
}, 120_000);
