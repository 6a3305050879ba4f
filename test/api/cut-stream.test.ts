// A stream that fails after its first bytes ends abruptly and is reported only by our own log line: Bun prints
// whatever a body throws to stderr, where all lines must be JSON.
import { expect, test } from "bun:test";
import { join } from "node:path";

const SERVES_ONE = `
  import { EventStreams } from "${join(import.meta.dir, "../../src/http/sse.ts")}";
  import { jobsOnStderr } from "${join(import.meta.dir, "../../src/lib/jobs.ts")}";
  import { systemClock } from "${join(import.meta.dir, "../../src/lib/clock.ts")}";
  const failed = (error) => console.log("failed: " + error.message);
  const streams = new EventStreams(systemClock, { failed, jobs: jobsOnStderr() });
  async function* frames() {
    yield "data: 1\\n\\n";
    await Bun.sleep(20);
    throw new Error("resolved by another");
  }
  const relayed = { frames: frames(), filler: () => "", leave: () => {} };
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: ({ signal }) => new Response(streams.body(relayed, signal)) });
  const answer = await fetch(server.url);
  console.log(await answer.text().then(() => "whole", () => "cut"));
  await server.stop(true);
`;

test("a failing stream is cut, reported once, and printed by nobody else", async () => {
  const child = Bun.spawn([process.execPath, "-e", SERVES_ONE], { stdout: "pipe", stderr: "pipe" });
  const [told, printed] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect(told).toBe("failed: resolved by another\ncut\n");
  expect(printed).toBe("");
});
