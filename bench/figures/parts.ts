// The cost of each part of a shell over the bare proxy, and of all parts together: CPU µs per request, 64 in flight,
// each part in its own process. The last row is the lean shell, which does what is needed in one program.
import { costOf, per1000Requests } from "../cost.ts";
import { figure } from "../figure.ts";
import { PARTS } from "../parts/parts.ts";
import { LEAN_SHELL } from "../peer.ts";
import { leanShell, ownProxy } from "../peers.ts";
import { differences, interleave, valuesOf } from "../rounds.ts";
import type { Figure } from "../figure.ts";
import type { RunningPeer } from "../peer.ts";
import type { Bench } from "./bench.ts";

/**
 * Each round of the plan is split into this many short ones, because the machine's speed drifts while all parts are
 * measured once.
 */
const ROUNDS = 3;
const BARE = "bare proxy";
const ALL = "all of it at once";

export async function parts(bench: Bench): Promise<Figure[]> {
  const { plan, upstream, scratchDir } = bench;
  const proxies: [name: string, parts: readonly string[]][] = [
    [BARE, []],
    ...PARTS.map((part): [string, string[]] => [part, NEEDS.get(part) ?? [part]]),
    [ALL, PARTS],
  ];
  const running: RunningPeer[] = [];
  try {
    for (const [name, chosen] of proxies) {
      const peer = ownProxy(name, "parts/proxy.ts", { PARTS: JSON.stringify(chosen) });
      running.push(await peer.start(upstream, scratchDir));
    }
    running.push(await leanShell.start(upstream, scratchDir));
    const load = { model: "bench-json-1k", concurrency: 64, warmUpMs: 30, durationMs: plan.partMs } as const;
    for (const peer of running) await costOf(peer, { ...load, durationMs: plan.firstWarmUpMs });
    const samples = await interleave(running, ROUNDS * plan.rounds, (peer) => costOf(peer, load));
    const micros = (peer: string): number[] =>
      valuesOf(samples, peer, (cost) => per1000Requests(cost) * 1000);
    const place = { section: "Parts of a shell, CPU per request over the bare proxy", unit: "µs" };
    return running.map(({ name }) =>
      name === BARE
        ? figure({ ...place, name: "the bare proxy itself", peer: BARE }, micros(BARE))
        : figure(
            {
              ...place,
              name: name === LEAN_SHELL ? "what is needed, in one program" : name,
              peer: peerOf(name),
            },
            differences(micros(name), micros(BARE)),
          ),
    );
  } finally {
    await Promise.all(running.map(async ({ process }) => process?.stop()));
  }
}

/** Parts that make no sense without another one. */
const NEEDS: ReadonlyMap<string, string[]> = new Map([
  [
    "a second AbortController, tied to the first",
    ["one AbortController, tied to the client", "a second AbortController, tied to the first"],
  ],
]);

const peerOf = (name: string): string => (name === LEAN_SHELL ? LEAN_SHELL : "bare proxy and it");
