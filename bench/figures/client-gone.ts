// A client that leaves in the middle of a stream: milliseconds until the upstream sees its own connection close.
import { Connection } from "../connection.ts";
import { GOALS, figure } from "../figure.ts";
import { TOLLGATE } from "../peer.ts";
import { chatBody, chatRequest } from "../request.ts";
import { wallMs } from "../upstream-bill.ts";
import { billOf, gateways } from "./bench.ts";
import type { Figure } from "../figure.ts";
import type { RunningPeer } from "../peer.ts";
import type { Bench } from "./bench.ts";

const LIMIT_MS = 3_000;

export async function clientGone(bench: Bench): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const peer of gateways(bench)) {
    const waits: number[] = [];
    for (let index = 0; index < bench.plan.leavings; index += 1) waits.push(await leaveOnce(bench, peer));
    const place = { section: "A client that leaves a stream", peer: peer.name, unit: "ms" };
    const goal = peer.name === TOLLGATE ? GOALS.leavingMs : null;
    figures.push(figure({ ...place, name: "until the upstream is closed" }, waits, goal));
    figures.push(figure({ ...place, name: "the slowest" }, [Math.max(...waits)]));
  }
  return figures;
}

async function leaveOnce(bench: Bench, peer: RunningPeer): Promise<number> {
  const { cuts } = await billOf(bench.upstream, peer.name);
  const connection = await Connection.open(peer.target.origin);
  const left = connection.send(chatRequest(peer.target, chatBody("bench-sse-500x2"))).catch(() => null);
  while (connection.eventsSoFar < 10) await Bun.sleep(1);
  const leftAtMs = wallMs();
  connection.close();
  await left;
  for (const endMs = performance.now() + LIMIT_MS; performance.now() < endMs; await Bun.sleep(5)) {
    const bill = await billOf(bench.upstream, peer.name);
    if (bill.cuts > cuts) return bill.lastCutAtMs - leftAtMs;
  }
  return LIMIT_MS;
}
