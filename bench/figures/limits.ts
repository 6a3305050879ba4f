// The cost of limits: the ledger alone with and without limits, alternately in one process and on one store. Other
// work on the machine makes single turns slower, never faster, so the fastest turn with limits is compared with the
// fastest without, and so on upwards. Measured for a key's own limits, and for limits of all four subjects that a
// request may count for.
import { GOALS, figure } from "../figure.ts";
import { LEAN_LEDGER, LEAN_LEDGER_POSTGRES } from "../peer.ts";
import { costOf, IN_FLIGHT, ledgersOf } from "./ledger-alone.ts";
import type { Figure } from "../figure.ts";
import type { Bench } from "./bench.ts";
import type { LoneLedger } from "./ledger-alone.ts";

/** Turns per round: two short adjacent runs are disturbed less unequally than two long ones. */
const TURNS = 8;
const SUBJECTS = [1, 4];
type Cost = Awaited<ReturnType<typeof costOf>>;
const LEAN: readonly string[] = [LEAN_LEDGER, LEAN_LEDGER_POSTGRES];

export async function limits(bench: Bench): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const ledger of await ledgersOf(bench)) {
    if (LEAN.includes(ledger.name)) continue; // they have no limits
    await warmUp(ledger, bench.plan.firstWarmUpMs);
    for (const flying of IN_FLIGHT)
      for (const limited of SUBJECTS) figures.push(...(await dearer(ledger, { flying, limited }, bench)));
  }
  return figures;
}

async function warmUp(ledger: LoneLedger, ms: number): Promise<void> {
  for (const limited of [0, ...SUBJECTS]) await costOf(ledger, { flying: 64, ms, limited });
}

async function dearer(
  ledger: LoneLedger,
  { flying, limited }: { flying: number; limited: number },
  { plan }: Bench,
): Promise<Figure[]> {
  const costs = new Map<number, Cost[]>([
    [0, []],
    [limited, []],
  ]);
  const ms = plan.jsonMs / TURNS;
  for (let turn = 0; turn < plan.rounds * TURNS; turn += 1) {
    const order = turn % 2 === 0 ? [0, limited] : [limited, 0];
    for (const subjects of order)
      costs.get(subjects)?.push(await costOf(ledger, { flying, ms, limited: subjects }));
  }
  const ranked = (subjects: number, of: keyof Cost): number[] =>
    (costs.get(subjects) ?? []).map((cost) => cost[of]).toSorted((a, b) => a - b);
  const more = (of: keyof Cost): number[] => {
    const without = ranked(0, of);
    return ranked(limited, of).map((cost, rank) => cost - (without[rank] ?? Number.NaN));
  };
  const section = "What limits cost, admit + settle";
  const name = `${limited === 1 ? "of a key" : `of ${limited} subjects`}, ${flying} in flight`;
  const place = { section, peer: ledger.name, unit: "µs" };
  const goal = flying === 64 && limited === 1 ? GOALS.limitMicros : null;
  return [
    figure({ ...place, name: `CPU more per pair, ${name}` }, more("gateway"), goal),
    ...(ledger.database === null
      ? []
      : [figure({ ...place, name: `database CPU more per pair, ${name}` }, more("database"))]),
  ];
}
