// Which test files run a second time, and the result of a run then
// (docs/decisions/0061-browser-files-run-again-alone.md): from the runner's output, and with Bun's own runner over
// failing files.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { waitFor } from "./support/wait.ts";
import { runInGroup } from "../scripts/process-group.ts";
import { filesToRepeat, type Ran, readRun, verdictOf } from "../scripts/second-run.ts";

const KEYS = "test/browser/keys.test.ts";
const LEDGER = "test/ledger/sqlite.test.ts";
const GREEN = readRun({ code: 0, output: " 7 pass\n 0 fail\n", report: "" });
const suite = (file: string, failures: number): string =>
  `<testsuite name="${file}" file="${file}" tests="5" assertions="9" failures="${failures}" skipped="0" time="1">`;
const testcase = (file: string): string =>
  `<testcase name="waits &lt;5 &amp; goes &quot;on&quot;" classname="" time="0" file="${file}" line="9" assertions="0">
    <failure type="Error" message="no">Error: no</failure></testcase>`;
const named = (file: string): string => `failed: ${file}:9 waits <5 & goes "on"`;
const failed = (...files: string[]): Ran =>
  readRun({
    code: 1,
    output: ` 4 pass\n ${files.length} fail\n`,
    report: [
      suite("test/browser/fine.test.ts", 0),
      ...files.map((file) => suite(file, 1) + testcase(file)),
    ].join("\n"),
  });
const CRASHED = readRun({ code: 139, output: "panic: a segmentation fault\n", report: null });

test("a browser's file that failed beside others runs again and is named if it passes alone", () => {
  const ran = [GREEN, failed(KEYS)];
  expect(filesToRepeat(ran, true)).toEqual([KEYS]);
  expect(verdictOf(ran, GREEN)).toEqual({
    lines: [named(KEYS), `passed alone, having failed beside others: ${KEYS}`, "12 passed, 0 failed"],
    passes: true,
  });
});

test("a browser's file that fails twice fails the run", () => {
  const lines = [named(KEYS), "11 passed, 1 failed"];
  expect(verdictOf([GREEN, failed(KEYS)], failed(KEYS))).toEqual({ lines, passes: false });
  expect(verdictOf([GREEN, failed(KEYS)], CRASHED)).toEqual({ lines, passes: false });
});

test.each([
  ["a ledger's file", [failed(LEDGER)]],
  ["a ledger's file in the lane of a browser's", [failed(KEYS, LEDGER)]],
  ["a ledger's file in another lane", [failed(KEYS), failed(LEDGER)]],
  ["a runner that died without a report", [CRASHED]],
  ["one that died in another lane", [failed(KEYS), CRASHED]],
  ["a runner that found no test", [failed(KEYS), readRun({ code: 0, output: "", report: "" })]],
  [
    "a file that could not be loaded",
    [
      failed(KEYS),
      readRun({
        code: 1,
        output: " 4 pass\n 1 fail\n 1 error\n",
        report: suite("test/browser/x.test.ts", 1),
      }),
    ],
  ],
] as const)("%s fails the run, and nothing runs again", (_, ran) => {
  expect(filesToRepeat([GREEN, ...ran], true)).toEqual([]);
  expect(verdictOf([GREEN, ...ran], null).passes).toBe(false);
});

test("a process that outlives its run is named, ended, and fails the run", async () => {
  const heard: string[] = [];
  const options = { env: process.env, heard: (bytes: Buffer) => heard.push(String(bytes)), graceMs: 200 };
  const leaving = `sleep 4711 & echo $!; echo " 7 pass"`;
  const { code, left } = await runInGroup(["sh", "-c", leaving], options);
  expect([code, left]).toEqual([0, ["sleep 4711"]]);
  const output = heard.join("");
  await waitFor(async () => !isRunning(Number.parseInt(output)), "the end of what was left");
  const ran = readRun({ code, output, report: null, left });
  expect(filesToRepeat([failed(KEYS), ran], true)).toEqual([]);
  expect(verdictOf([GREEN, ran], null)).toEqual({
    lines: ["still running at the end: sleep 4711", "14 passed, 0 failed"],
    passes: false,
  });
  expect(await runInGroup(["sh", "-c", "exit 3"], options)).toEqual({ code: 3, left: [] });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("nothing runs again if all passed, or if a person named the files", () => {
  expect(filesToRepeat([GREEN, GREEN], true)).toEqual([]);
  expect(verdictOf([GREEN, GREEN], null)).toEqual({ lines: ["14 passed, 0 failed"], passes: true });
  expect(filesToRepeat([failed(KEYS)], false)).toEqual([]);
});

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "second-run-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(file: string, body: string): void {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `import { test } from "bun:test";\n${body}\n`);
}

/** Bun's own runner over these files, as `npm test` runs a lane of them. */
async function runFiles(...files: string[]): Promise<Ran> {
  const report = join(folder, `${crypto.randomUUID()}.xml`);
  const reporter = ["--reporter=junit", `--reporter-outfile=${report}`];
  const child = Bun.spawn(
    [
      process.execPath,
      "test",
      "--parallel=2",
      "--no-isolate",
      ...reporter,
      ...files.map((file) => `./${file}`),
    ],
    { cwd: folder, stdout: "pipe", stderr: "pipe", env: { ...process.env, NO_COLOR: "1" } },
  );
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return readRun({
    code,
    output: out + err,
    report: existsSync(report) ? readFileSync(report, "utf8") : null,
  });
}

test("the output and report of Bun's runner are understood: a browser's file that fails once is repeated alone, one of the ledger's is not", async () => {
  const seen = JSON.stringify(join(folder, "seen"));
  write(
    KEYS,
    `import { existsSync, writeFileSync } from "node:fs";
     test("is early once", () => { if (!existsSync(${seen})) { writeFileSync(${seen}, ""); throw new Error("early"); } });`,
  );
  write("test/app/fine.test.ts", `test("passes", () => {});`);
  write(LEDGER, `test("fails", () => { throw new Error("a true finding"); });`);
  const [first, ledger] = await Promise.all([runFiles(KEYS, "test/app/fine.test.ts"), runFiles(LEDGER)]);
  const failedTests = [`${KEYS}:3 is early once`];
  expect(first).toEqual({
    green: false,
    passed: 1,
    failed: 1,
    complete: true,
    failing: [KEYS],
    failedTests,
    left: [],
  });
  expect(filesToRepeat([first, ledger], true)).toEqual([]);
  const repeated = filesToRepeat([first], true);
  const { lines, passes } = verdictOf([first], await runFiles(...repeated));
  expect([repeated, lines.at(-1), passes]).toEqual([[KEYS], "2 passed, 0 failed", true]);
});
