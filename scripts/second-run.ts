// Decides from the runner's output how a run of test files went, which files run a second time, and what is printed
// at the end. Runs nothing itself (docs/decisions/0061-browser-files-run-again-alone.md).

/** The runner's exit code, all its output, its report (null if it wrote none), and the processes it left behind. */
export interface RunnerOutcome {
  code: number;
  output: string;
  report: string | null;
  left?: readonly string[];
}

export interface Ran {
  green: boolean;
  passed: number;
  failed: number;
  /** False if more went wrong than failing tests: a file that could not be loaded, a runner that died, a process left behind. */
  complete: boolean;
  /** The files with a failed test, as `test/browser/keys.test.ts`. */
  failing: readonly string[];
  /** The failed tests, as `test/browser/keys.test.ts:12 a key is shown once`. */
  failedTests: readonly string[];
  /** The command lines of processes that outlived it. */
  left: readonly string[];
}

/** Browser tests may look at a page too early when other work runs beside them. */
const PAGES = "test/browser/";

/** The files that the runner's report names as failing; none if it wrote no report. */
function failingIn(report: string | null): string[] {
  const suites = (report ?? "").matchAll(/<testsuite [^>]*?file="([^"]+)"[^>]*? failures="(\d+)"/g);
  return [...new Set([...suites].flatMap(([, file = "", failures]) => (failures === "0" ? [] : [file])))];
}

/** The failed tests that the runner's report names, in its order. */
function failedTestsIn(report: string | null): string[] {
  const cases = (report ?? "").matchAll(
    /<testcase name="([^"]*)"[^>]*? file="([^"]+)" line="(\d+)"[^>]*>\s*<failure/g,
  );
  return Array.from(cases, ([, title = "", file, line]) => `${file}:${line} ${unescaped(title)}`);
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

const unescaped = (text: string): string =>
  text.replace(/&(\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity);

export function readRun({ code, output, report, left = [] }: RunnerOutcome): Ran {
  const count = (word: string): number =>
    Number(output.match(new RegExp(`^\\s*(\\d+) ${word}$`, "m"))?.[1] ?? 0);
  const [passed, failed, failing] = [count("pass"), count("fail"), failingIn(report)];
  const failedTests = failedTestsIn(report);
  const green = code === 0 && passed > 0 && left.length === 0;
  const complete = green || (failing.length > 0 && left.length === 0 && !/^\s*\d+ errors?$/m.test(output));
  return { green, passed, failed, complete, failing, failedTests, left };
}

/** The files to run once more, alone: the failed ones, if nothing else went wrong in a `whole` run; otherwise none. */
export function filesToRepeat(ran: readonly Ran[], whole: boolean): string[] {
  const failing = ran.flatMap((one) => one.failing);
  const onlyPages = ran.every(({ complete }) => complete) && failing.every((path) => path.startsWith(PAGES));
  return whole && onlyPages ? failing : [];
}

/**
 * The last lines of a run, and whether it passed. `again`: the second run of the failed files, null if there was
 * none.
 */
export function verdictOf(ran: readonly Ran[], again: Ran | null): { lines: string[]; passes: boolean } {
  const sum = (of: "passed" | "failed"): number => ran.reduce((total, one) => total + one[of], 0);
  const [passed, failed] = [sum("passed"), sum("failed")];
  const named = ran.flatMap(({ failedTests, left }) => [
    ...failedTests.map((one) => `failed: ${one}`),
    ...left.map((command) => `still running at the end: ${command}`),
  ]);
  if (again?.green !== true)
    return {
      lines: [...named, `${passed} passed, ${failed} failed`],
      passes: ran.every(({ green }) => green),
    };
  const failing = ran.flatMap((one) => one.failing);
  const lines = [
    ...named,
    `passed alone, having failed beside others: ${failing.join(", ")}`,
    `${passed + failed} passed, 0 failed`,
  ];
  return { lines, passes: ran.every(({ complete }) => complete) };
}
