// What becomes of lines that are gathered: each is written, in order, soon, and at the end of the process at the latest.
import { afterEach, expect, test } from "bun:test";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LineBuffer } from "./line-buffer.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-lines-"));
const file = join(folder, "log");
const fd = openSync(file, "a");
const lines = new LineBuffer(fd);
const written = (): string => readFileSync(file, "utf8");
const flushed = (): Promise<void> => new Promise((resolve) => lines.flush(resolve));

process.once("exit", () => {
  closeSync(fd);
  rmSync(folder, { recursive: true, force: true });
});
afterEach(flushed);

test("a lone line is written within half a second, and not at once", async () => {
  lines.write("first\n");
  expect(written()).toBe("");
  await Bun.sleep(500);
  expect(written()).toBe("first\n");
});

test("thousands of lines are written whole and in order, also those that come while a piece is under way", async () => {
  const before = written();
  const sent = Array.from({ length: 20_000 }, (_, i) => `line ${i} ü\n`);
  for (const [i, line] of sent.entries()) {
    lines.write(line);
    if (i % 5_000 === 0) await Bun.sleep(1);
  }
  await flushed();
  expect(written()).toBe(before + sent.join(""));
});

test("what waits at the end of the process is written before it ends", () => {
  lines.write("last\n");
  lines.flushSync();
  expect(written()).toEndWith("last\n");
});

test("a flush of nothing answers, and one of a descriptor that takes nothing does, too", async () => {
  await flushed();
  const gone = openSync(file, "r");
  const refused = new LineBuffer(gone);
  refused.write("lost\n");
  await new Promise<void>((resolve) => refused.flush(resolve));
  refused.write("lost\n");
  refused.flushSync();
  closeSync(gone);
  expect(written()).not.toContain("lost");
});

test("a pipe whose reader has left takes no further line, and ends nobody", async () => {
  const script = `
    import { LineBuffer } from ${JSON.stringify(join(import.meta.dir, "line-buffer.ts"))};
    const lines = new LineBuffer(2);
    await Bun.sleep(200);
    for (const line of ["a\\n", "b\\n"]) {
      lines.write(line);
      await new Promise((resolve) => lines.flush(resolve));
    }
    lines.flushSync();
    console.log("alive");`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "pipe" });
  await child.stderr.cancel();
  expect(await new Response(child.stdout).text()).toBe("alive\n");
  expect(await child.exited).toBe(0);
});
