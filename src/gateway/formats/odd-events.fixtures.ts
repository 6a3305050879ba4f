// Events of a faulty upstream: some left out, sent twice or late, with members that are odd, missing, or duplicated.
import fc from "fast-check";

const ODD = [-1, 0, 1, 7, 0.5, 1e300, 2 ** 53, "0", "", "x", "constructor", null, true, [], {}, [{}]];

export interface OddStep {
  how: "drop" | "twice" | "late" | "member" | "doubled";
  at: number;
  /** A member of the event, or a nested one. */
  path: string[];
  value: unknown;
}

/** The fault of one event. `paths`: members that may be odd. */
export const oddStep = (paths: readonly string[][]): fc.Arbitrary<OddStep> =>
  fc.record({
    how: fc.constantFrom("drop", "twice", "late", "member", "member", "member", "doubled"),
    at: fc.nat(),
    path: fc.constantFrom(...paths),
    value: fc.constantFrom<unknown>(...ODD, undefined),
  });

/** Adds the member a second time. */
const doubled = (text: string, name: string, value: unknown): string =>
  `${text.slice(0, -1)},${JSON.stringify(name)}:${JSON.stringify(value ?? null)}}`;

function withMember(text: string, [name = "", inner]: readonly string[], value: unknown): string {
  const event = JSON.parse(text) as Record<string, unknown>;
  if (inner === undefined) event[name] = value;
  else if (typeof event[name] === "object" && event[name] !== null)
    event[name] = { ...event[name], [inner]: value };
  return JSON.stringify(event);
}

/** The data of the events after all faults. */
export function goneWrong(theirs: readonly string[], steps: readonly OddStep[]): string[] {
  const lines = [...theirs];
  for (const { how, at, path, value } of steps) {
    const place = at % Math.max(1, lines.length);
    const line = lines[place];
    if (line === undefined) break;
    if (how === "drop") lines.splice(place, 1);
    else if (how === "twice") lines.splice(place, 0, line);
    else if (how === "late") lines.push(...lines.splice(place, 1));
    else if (how === "doubled") lines[place] = doubled(line, path[0] ?? "", value);
    else lines[place] = withMember(line, path, value);
  }
  return lines;
}
