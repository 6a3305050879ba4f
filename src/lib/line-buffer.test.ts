// What happens to buffered lines: each is written, in order, soon, and by the end of the process at the
// latest.
import { afterEach, expect, test } from "bun:test";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LineBuffer } from "./line-buffer.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-lines-"));
const file = join(folder, "log");
const fd = openSync(file, "a");
const missed = (lost: number): string => `${lost} lost\n`;
const lines = new LineBuffer(fd, missed);
const written = (): string => readFileSync(file, "utf8");
const flushed = (): Promise<void> => new Promise((resolve) => lines.flush(resolve));

process.once("exit", () => {
  closeSync(fd);
  rmSync(folder, { recursive: true, force: true });
});
afterEach(flushed);

test("a single line is written within half a second, but not at once", async () => {
  lines.write("first\n");
  expect(written()).toBe("");
  await Bun.sleep(500);
  expect(written()).toBe("first\n");
});

test("thousands of lines are written whole and in order, including those that arrive during a write", async () => {
  const before = written();
  const sent = Array.from({ length: 20_000 }, (_, i) => `line ${i} ü\n`);
  for (const [i, line] of sent.entries()) {
    lines.write(line);
    if (i % 5_000 === 0) await Bun.sleep(1);
  }
  await flushed();
  expect(written()).toBe(before + sent.join(""));
});

test("buffered lines are written before the process exits", () => {
  lines.write("last\n");
  lines.flushSync();
  expect(written()).toEndWith("last\n");
});

test("an empty flush resolves, and so does one of a descriptor that accepts nothing", async () => {
  await flushed();
  const gone = openSync(file, "r");
  const refused = new LineBuffer(gone, missed);
  refused.write("lost\n");
  await new Promise<void>((resolve) => refused.flush(resolve));
  refused.write("lost\n");
  refused.flushSync();
  closeSync(gone);
  expect(written()).not.toContain("lost");
});

test.skipIf(!existsSync("/dev/full"))(
  "lines that a full disk has not taken are told of once it takes some again",
  async () => {
    const full = openSync("/dev/full", "w");
    const log = new LineBuffer(full, missed);
    const flush = (): Promise<void> => new Promise((resolve) => log.flush(resolve));
    log.write("a\nb\n");
    await flush();
    // The same descriptor, now for a file that accepts lines.
    closeSync(full);
    const room = openSync(file, "a");
    expect(room).toBe(full);
    log.write("c\n");
    await flush();
    closeSync(room);
    expect(written()).toEndWith("c\n2 lost\n");
  },
);

test("a pipe whose reader has left gets no more lines, and does not end the process", async () => {
  const script = `
    import { LineBuffer } from ${JSON.stringify(join(import.meta.dir, "line-buffer.ts"))};
    const lines = new LineBuffer(2, String);
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

/** Writes 20 MB in lines of 1,000 characters, reports that, and exits when told to. */
const MUCH = `
  import { LineBuffer } from ${JSON.stringify(join(import.meta.dir, "line-buffer.ts"))};
  const lines = new LineBuffer(2, (lost) => "lost " + lost + "\\n");
  process.once("exit", () => lines.flushSync());
  const line = "x".repeat(999) + "\\n";
  for (let n = 0; n < 20_000; n += 1) {
    lines.write(line);
    if (n % 100 === 0) await Bun.sleep(0);
  }
  console.log("wrote");
  for await (const _ of console) break;
  const flushed = new Promise((resolve) => lines.flush(() => resolve("flushed")));
  console.log(await Promise.race([flushed, Bun.sleep(1_000).then(() => "stalled")]));
  process.exit(0);`;
/** Runs it, with a pipe for its lines that nobody reads until `read` is called. */
function much() {
  const pipe = join(folder, crypto.randomUUID());
  Bun.spawnSync(["mkfifo", pipe]);
  const both = openSync(pipe, "r+");
  const child = Bun.spawn([process.execPath, "-e", MUCH], { stdio: ["pipe", "pipe", both] });
  const reader = child.stdout.getReader();
  const said = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value).trim();
  const end = (): void => {
    void child.stdin.write("end\n");
    void child.stdin.end();
  };
  const read = async (): Promise<string> => {
    const cat = Bun.spawn(["cat", pipe], { stdout: "pipe" });
    const text = new Response(cat.stdout).text();
    await Bun.sleep(300); // by then it has opened the pipe
    closeSync(both);
    end();
    return text;
  };
  return { child, said, end, read };
}

test("a stalled reader delays the exit for at most a second", async () => {
  const { child, said, end } = much();
  expect(await said()).toBe("wrote");
  end();
  expect(await said()).toBe("stalled"); // after a second
  const stalledAt = performance.now();
  const ended = await Promise.race([child.exited, Bun.sleep(60_000).then(() => "not ended")]);
  child.kill("SIGKILL");
  expect(ended).toBe(0);
  expect(performance.now() - stalledAt).toBeLessThan(10_000);
}, 120_000);

test("a reader that resumes is told how many lines it missed beyond the 8 MB that were kept", async () => {
  const { child, said, read } = much();
  expect(await said()).toBe("wrote");
  const lines = (await read()).trimEnd().split("\n");
  const lost = Number(lines.find((line) => line.startsWith("lost "))?.slice("lost ".length));
  expect(lost).toBeGreaterThan(10_000);
  expect(lines.filter((line) => line.startsWith("x")).length + lost).toBe(20_000);
  expect(await child.exited).toBe(0);
}, 120_000);
