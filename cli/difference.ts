// Shows people what would change in a file, line by line, with a few lines of context around each change and secret
// values masked.

const AROUND = 2;
/**
 * A literal value under a name like these. References to the environment or to a file, and numbers, are not secrets.
 */
const SECRET =
  /^(\s*"[^"]*(?:key|token|secret|password|authorization)[^"]*"\s*:\s*")(?!\{(?:env|file):|printenv \w+"|\d+")[^"]+(".*)$/i;

interface Line {
  sign: " " | "+" | "-";
  text: string;
}

/** `- ` for removed lines, `+ ` for added ones; empty if nothing changes. */
export function difference(before: string, after: string): string {
  const lines = compared(linesOf(before), linesOf(after));
  const near = (at: number): boolean =>
    lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ sign }) => sign !== " ");
  const shown = lines.flatMap(({ sign, text }, at) =>
    near(at) ? [`${sign} ${withoutSecret(text)}`] : [null],
  );
  return shown
    .map((line, at) => (line === null ? (shown[at - 1] === null ? [] : ["  …"]) : [line]))
    .flat()
    .join("\n");
}

const linesOf = (text: string): string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
const withoutSecret = (line: string): string => line.replace(SECRET, "$1…$2");

/** Compares by the longest common subsequence. */
function compared(before: string[], after: string[]): Line[] {
  const common = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      (common[i] as Uint32Array)[j] =
        before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: Line[] = [];
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    const [gone, come] = [before[i], after[j]];
    if (gone !== undefined && gone === come) {
      lines.push({ sign: " ", text: gone });
      i++;
      j++;
    } else if (gone !== undefined && (come === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ sign: "-", text: gone });
      i++;
    } else {
      lines.push({ sign: "+", text: come ?? "" });
      j++;
    }
  }
  return lines;
}
