// Starts what is measured: the peers in front of the upstream, then the Tollgates of one tree beside them.
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { LEAN_GATEWAY_POSTGRES, NULL_LEDGER, TOLLGATE, TOLLGATE_POSTGRES } from "./peer.ts";
import { leanGatewayPostgres, PEERS, root } from "./peers.ts";
import { startDatabase } from "./postgres.ts";
import { startTollgate } from "./tollgate-peer.ts";
import type { Bench } from "./figures/bench.ts";
import type { Options } from "./options.ts";
import type { RunningPeer, Upstream } from "./peer.ts";
import type { Results } from "./report.ts";

/** The surroundings of a run. */
export interface Ground extends Pick<Options, "plan" | "wants"> {
  upstream: Upstream;
  scratchDir: string;
  /** Gets every peer and section that could not be measured. */
  skipped: Results["skipped"];
  /** What to clean up at the end of the run, besides the processes of processes.ts. */
  atEnd: (() => Promise<void>)[];
}

/** Starts the peers other than Tollgate. A peer that cannot start is reported and does not end the run. */
export async function startPeers({ upstream, wants, skipped, scratchDir }: Ground): Promise<RunningPeer[]> {
  const started: RunningPeer[] = [];
  for (const peer of PEERS.filter(({ name }) => wants(name))) {
    const reason = peer.missing();
    if (reason !== null) skipped.push({ name: peer.name, reason });
    else
      await peer.start(upstream, scratchDir).then(
        (running) => started.push(running),
        (error: unknown) => skipped.push({ name: peer.name, reason: String(error) }),
      );
  }
  return started;
}

/** Starts the Tollgates of the tree in `checkout`, with stores below `place`, beside `peers`. */
export async function startTollgates(
  ground: Ground,
  peers: readonly RunningPeer[],
  { checkout, place }: { checkout: string; place: string } = { checkout: root, place: "tollgates" },
): Promise<Bench> {
  const { plan, upstream, wants } = ground;
  const scratchDir = join(ground.scratchDir, place);
  mkdirSync(scratchDir);
  const bench: Bench = {
    plan,
    upstream,
    peers: [...peers],
    tollgate: null,
    database: null,
    scratchDir,
    checkout,
  };
  if (wants(TOLLGATE)) {
    bench.tollgate = await startTollgate(upstream, scratchDir, { checkout });
    bench.peers.push(bench.tollgate);
  }
  if (wants(TOLLGATE_POSTGRES)) await startPostgres(bench, ground);
  if (wants(NULL_LEDGER)) await startShell(bench, ground);
  return bench;
}

async function startPostgres(bench: Bench, { skipped, atEnd, wants }: Ground): Promise<void> {
  try {
    const database = (bench.database = await startDatabase());
    atEnd.push(() => database.stop());
    const on = { name: TOLLGATE_POSTGRES, databaseUrl: database.url, checkout: bench.checkout };
    const tollgate = await startTollgate(bench.upstream, bench.scratchDir, on);
    bench.peers.push(Object.assign(tollgate, { database }));
    if (!wants(LEAN_GATEWAY_POSTGRES)) return;
    const lean = leanGatewayPostgres(await database.empty());
    bench.peers.push({ ...(await lean.start(bench.upstream, bench.scratchDir)), database });
  } catch (error) {
    skipped.push({ name: TOLLGATE_POSTGRES, reason: String(error) });
  }
}

/** An older revision may not have it. */
async function startShell(
  { peers, upstream, scratchDir, checkout }: Bench,
  { skipped }: Ground,
): Promise<void> {
  const server = "bench/null-ledger.ts";
  if (existsSync(join(checkout, server)))
    peers.push(await startTollgate(upstream, scratchDir, { name: NULL_LEDGER, checkout, server }));
  else skipped.push({ name: NULL_LEDGER, reason: "the revision has none" });
}
