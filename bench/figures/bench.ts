// What every figure needs: the plan, the upstream and the running peers.
import { accountOf } from "../peer.ts";
import type { Figure } from "../figure.ts";
import type { RunningPeer, Upstream } from "../peer.ts";
import type { Plan } from "../plan.ts";
import type { TollgatePeer } from "../tollgate-peer.ts";
import type { BenchDatabase } from "../postgres.ts";
import type { Bill } from "../upstream-bill.ts";

export interface Bench {
  plan: Plan;
  upstream: Upstream;
  peers: RunningPeer[];
  /** Null until the product can be started; until then only the controls are measured. */
  tollgate: TollgatePeer | null;
  /** Null if PostgreSQL cannot run. */
  database: BenchDatabase | null;
  /** For files and processes of a figure's own; removed at the end of the run. */
  scratchDir: string;
  /** The tree that these Tollgates run. */
  checkout: string;
}

export type Measure = (bench: Bench) => Promise<Figure[]>;

/** The peers that are a process, whose CPU time counts. */
export const gateways = (bench: Bench): RunningPeer[] => bench.peers.filter((peer) => peer.process !== null);

export async function billOf(upstream: Upstream, peer: string): Promise<Bill> {
  const answer = await fetch(`http://127.0.0.1:${upstream.port}/bill?account=${accountOf(peer)}`);
  return (await answer.json()) as Bill;
}
