// A client that reads a little of a 400 MB stream and then stops: how much the gateway's memory grows meanwhile.
import { Connection } from "../connection.ts";
import { GOALS, figure } from "../figure.ts";
import { TOLLGATE } from "../peer.ts";
import { chatBody, chatRequest } from "../request.ts";
import { gateways } from "./bench.ts";
import type { Figure } from "../figure.ts";
import type { RunningPeer } from "../peer.ts";
import type { Bench } from "./bench.ts";

const EVENTS_READ = 20;

export async function stalledClient(bench: Bench): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const peer of gateways(bench)) {
    if (!bench.plan.extended && bench.tollgate !== null && peer.name !== TOLLGATE) continue;
    const growth = await growthWhileStalled(peer, bench.plan.stallMs);
    const place = { section: "A client that stops reading 400 MB", peer: peer.name, unit: "MB" };
    figures.push(
      figure({ ...place, name: "memory growth" }, [growth], peer.name === TOLLGATE ? GOALS.stalledMb : null),
    );
  }
  return figures;
}

async function growthWhileStalled(peer: RunningPeer, stallMs: number): Promise<number> {
  if (peer.process === null) return 0;
  const before = peer.process.rssMb();
  const connection = await Connection.open(peer.target.origin);
  const reply = connection.send(chatRequest(peer.target, chatBody("bench-sse-flood")));
  const left = reply.then(
    () => "answered",
    () => "closed",
  );
  while (connection.eventsSoFar < EVENTS_READ) {
    const early = await Promise.race([left, Bun.sleep(1).then(() => null)]);
    if (early !== null) throw new Error(`${peer.name}: the 400 MB stream ended early (${early})`);
  }
  connection.stall();
  let highest = before;
  for (const endMs = performance.now() + stallMs; performance.now() < endMs; await Bun.sleep(50))
    highest = Math.max(highest, peer.process.rssMb());
  connection.close();
  await left;
  return highest - before;
}
