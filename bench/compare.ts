// Two revisions in one run (`--compare REVISION`): every round takes each figure of both, in alternating order,
// beside the same controls. Whatever slows the machine down slows both, and the controls show by how much.
import { join } from "node:path";
import { messageOf } from "../src/domain/error-message.ts";
import { startPeers, startTollgates, type Ground } from "./bring-up.ts";
import { checkOut } from "./checkout.ts";
import { warmUp } from "./figures/warm-up.ts";
import { MEASURES } from "./measures.ts";
import { root } from "./peers.ts";
import { number, printRows } from "./report.ts";
import { pairwise, spread } from "./stats.ts";
import type { Bench, Measure } from "./figures/bench.ts";
import type { Figure } from "./figure.ts";
import type { NamedMeasure } from "./measures.ts";

/** One figure of one peer: the samples of each round, for both revisions. */
interface Compared extends Pick<Figure, "section" | "name" | "peer" | "unit"> {
  old: number[];
  new: number[];
}

type Side = "old" | "new";

export interface Comparison {
  /** The title of `old`. */
  title: string;
  compared: Compared[];
}

/** Measures `revision` beside this tree; every round is one sample of each figure. */
export async function compare(
  ground: Ground,
  revision: string,
  measures: readonly NamedMeasure[],
): Promise<Comparison> {
  const { folder, title } = checkOut(revision, join(ground.scratchDir, "checkout"));
  const peers = await startPeers(ground);
  const sides: Record<Side, Bench> = {
    old: await startTollgates(ground, peers, { checkout: folder, place: "old" }),
    new: await startTollgates(ground, peers, { checkout: root, place: "new" }),
  };
  const once = { ...ground.plan, rounds: 1 };
  for (const bench of Object.values(sides)) bench.plan = once;
  const compared: Compared[] = [];
  for (const { name, measure } of MEASURES) {
    if (measure === warmUp) await warmUp(both(sides));
    else if (measures.some((wanted) => wanted.name === name))
      await inRounds(sides, ground.plan.rounds, measure).then(
        (rows) => compared.push(...rows),
        (error: unknown) => ground.skipped.push({ name, reason: messageOf(error) }),
      );
  }
  return { title, compared };
}

/** Every process of both sides, each once. */
const both = ({ old, new: ours }: Record<Side, Bench>): Bench => ({
  ...ours,
  peers: [...new Set([...old.peers, ...ours.peers])],
});

async function inRounds(sides: Record<Side, Bench>, rounds: number, measure: Measure): Promise<Compared[]> {
  const rows = new Map<string, Compared>();
  for (let round = 0; round < rounds; round += 1) {
    const order: Side[] = round % 2 === 0 ? ["old", "new"] : ["new", "old"];
    for (const side of order)
      for (const { section, name, peer, unit, spread } of await measure(sides[side])) {
        const key = [section, name, peer].join("\n");
        const row = rows.get(key) ?? { section, name, peer, unit, old: [], new: [] };
        rows.set(key, row);
        row[side].push(spread.median);
      }
  }
  return [...rows.values()];
}

/** Prints the median and range of both revisions, and of the difference in each round. */
export function printComparison({ title, compared }: Comparison): string {
  const head = ["figure", "peer", "old", "min – max", "new", "min – max", "difference", "min – max", ""];
  const rows = compared.map((row) => ({ section: row.section, cells: cellsOf(row) }));
  return [`old: ${title}`, "new: this tree", "", printRows(head, rows)].join("\n");
}

function cellsOf({ name, peer, unit, old, new: ours }: Compared): string[] {
  const [before, after] = [spread(old), spread(ours)];
  if (before === null || after === null) return [name, peer, "", "", "", "", "", "", "one of them has none"];
  const percents = pairwise(ours, old, (value, control) => ((value - control) * 100) / control);
  const finite = percents.filter(Number.isFinite);
  const difference = spread(finite);
  return [
    name,
    peer,
    `${number(before.median)} ${unit}`.trim(),
    rangeOf(old, number),
    `${number(after.median)} ${unit}`.trim(),
    rangeOf(ours, number),
    ...(difference === null ? ["", ""] : [`${signed(difference.median)} %`, rangeOf(finite, signed)]),
    verdict(old, ours),
  ];
}

/** Overlapping ranges prove nothing, but if every round agrees, another, longer run is worthwhile. */
function verdict(old: number[], ours: number[]): string {
  if (Math.min(...old) > Math.max(...ours) || Math.min(...ours) > Math.max(...old)) return "";
  const signs = new Set(pairwise(ours, old, (value, control) => Math.sign(value - control)));
  return signs.size === 1 && !signs.has(0) && old.length > 1
    ? "within noise, every round agrees"
    : "within noise";
}

const rangeOf = (values: number[], print: (value: number) => string): string =>
  `${print(Math.min(...values))} – ${print(Math.max(...values))}`;
const signed = (value: number): string =>
  `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value).toFixed(1)}`;
