// CPU seconds per 1,000 JSON requests (1 KB replies) at 64 and at 8 in flight, and the ratio to the bare proxy.
import { costOf, databaseMicros, per1000Requests, requestsPerSecond } from "../cost.ts";
import { GOALS, figure } from "../figure.ts";
import { BARE_PROXY, NULL_LEDGER, TOLLGATE, TOLLGATE_POSTGRES } from "../peer.ts";
import { PORTKEY } from "../portkey/peer.ts";
import { interleave, ratios, valuesOf } from "../rounds.ts";
import { gateways } from "./bench.ts";
import type { CostPlan } from "../cost.ts";
import type { Figure, Goal } from "../figure.ts";
import type { Bench } from "./bench.ts";

const RATIO_GOALS: ReadonlyMap<string, Goal> = new Map([
  [TOLLGATE, GOALS.jsonRatio],
  [TOLLGATE_POSTGRES, GOALS.postgresJsonRatio],
  [NULL_LEDGER, GOALS.shellRatio],
]);

export async function jsonCost(bench: Bench): Promise<Figure[]> {
  const { plan } = bench;
  const base = { model: "bench-json-1k", durationMs: plan.jsonMs, warmUpMs: plan.warmUpMs } as const;
  const figures: Figure[] = [];
  for (const concurrency of [64, 8])
    figures.push(
      ...(await jsonFigures(bench, `JSON 0.3 → 1 KB, ${concurrency} in flight`, { ...base, concurrency })),
    );
  return figures;
}

/** The same figures for any JSON load; also used for the payload sizes of the full run. */
export async function jsonFigures(bench: Bench, section: string, cost: CostPlan): Promise<Figure[]> {
  const peers = gateways(bench);
  const samples = await interleave(peers, bench.plan.rounds, (peer) => costOf(peer, cost));
  const bare = valuesOf(samples, BARE_PROXY, per1000Requests);
  const rival = valuesOf(samples, PORTKEY, per1000Requests);
  const shell = valuesOf(samples, NULL_LEDGER, per1000Requests);
  return peers.flatMap(({ name: peer, database }) => {
    const values = valuesOf(samples, peer, per1000Requests);
    const headline = cost.concurrency === 64 && cost.sizeKb === undefined && cost.body === undefined;
    const goal = headline ? (RATIO_GOALS.get(peer) ?? null) : null;
    const pairs = headline && peer === TOLLGATE_POSTGRES ? GOALS.hotPairs : null;
    return [
      figure({ section, name: "CPU per 1,000 requests", peer, unit: "s" }, values),
      figure({ section, name: "ratio to bare proxy", peer, unit: "×" }, ratios(values, bare), goal),
      ...(peer === TOLLGATE && rival.length > 0
        ? [
            figure(
              { section, name: "share of Portkey", peer, unit: "×" },
              ratios(values, rival),
              GOALS.portkeyShare,
            ),
          ]
        : []),
      ...(peer === TOLLGATE && shell.length > 0
        ? [figure({ section, name: "of it the shell (null ledger)", peer, unit: "s" }, shell)]
        : []),
      ...(database === undefined
        ? []
        : [
            figure(
              { section, name: "database CPU per request", peer, unit: "µs" },
              valuesOf(samples, peer, databaseMicros),
              headline ? GOALS.databaseMicros : null,
            ),
          ]),
      figure(
        { section, name: "throughput", peer, unit: "req/s" },
        valuesOf(samples, peer, requestsPerSecond),
        pairs,
      ),
    ];
  });
}
