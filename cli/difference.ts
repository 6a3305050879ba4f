// What would change in a file, line by line, for people: a few lines around each change, values of secrets left out.

const AROUND = 2;
/** A value that is written out under a name like these; references to the environment or a file, and numbers, are no secrets. */
const SECRET =
  /^(\s*"[^"]*(?:key|token|secret|password|authorization)[^"]*"\s*:\s*")(?!\{(?:env|file):|printenv \w+"|\d+")[^"]+(".*)$/i;

interface Line {
  sign: " " | "+" | "-";
  text: string;
}

/** `- ` gone, `+ ` new; empty where nothing changes. */
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

/** By the longest common part, in the order of both. */
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
