// What a run of test files has come to, which of them run a second time, and what is said in the end: decided from what the
// runner told, without running anything (docs/decisions/0061-browser-files-run-again-alone.md).

/** What the runner left behind: its exit code, all that it printed, and its report, null where it wrote none. */
export interface RunnerOutcome {
  code: number;
  output: string;
  report: string | null;
}

export interface Ran {
  green: boolean;
  passed: number;
  failed: number;
  /** False where more went wrong than tests that failed: a file that could not be loaded, a runner that died. */
  complete: boolean;
  /** The files with a test that failed, as `test/browser/keys.test.ts`. */
  failing: readonly string[];
}

/** Who looks at pages beside other work may look too early. */
const PAGES = "test/browser/";

/** The files that the runner's own report names as failing; none where it wrote no report. */
function failingIn(report: string | null): string[] {
  const suites = (report ?? "").matchAll(/<testsuite [^>]*?file="([^"]+)"[^>]*? failures="(\d+)"/g);
  return [...new Set([...suites].flatMap(([, file = "", failures]) => (failures === "0" ? [] : [file])))];
}

export function readRun({ code, output, report }: RunnerOutcome): Ran {
  const count = (word: string): number =>
    Number(output.match(new RegExp(`^\\s*(\\d+) ${word}$`, "m"))?.[1] ?? 0);
  const [passed, failed, failing] = [count("pass"), count("fail"), failingIn(report)];
  const green = code === 0 && passed > 0;
  const complete = green || (failing.length > 0 && !/^\s*\d+ errors?$/m.test(output));
  return { green, passed, failed, complete, failing };
}

/** The files that run once more, alone: those that failed where nothing else went wrong in a `whole` run; otherwise none. */
export function filesToRepeat(ran: readonly Ran[], whole: boolean): string[] {
  const failing = ran.flatMap((one) => one.failing);
  const onlyPages = ran.every(({ complete }) => complete) && failing.every((path) => path.startsWith(PAGES));
  return whole && onlyPages ? failing : [];
}

/** What a run says last, and whether it passed; `again`: the second run of the files that failed, null where there was none. */
export function verdictOf(ran: readonly Ran[], again: Ran | null): { lines: string[]; passes: boolean } {
  const sum = (of: "passed" | "failed"): number => ran.reduce((total, one) => total + one[of], 0);
  const [passed, failed] = [sum("passed"), sum("failed")];
  if (again?.green !== true)
    return { lines: [`${passed} passed, ${failed} failed`], passes: ran.every(({ green }) => green) };
  const failing = ran.flatMap((one) => one.failing);
  const lines = [
    `passed alone, having failed beside others: ${failing.join(", ")}`,
    `${passed + failed} passed, 0 failed`,
  ];
  return { lines, passes: ran.every(({ complete }) => complete) };
}
