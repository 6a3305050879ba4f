// A stroke of chaos, taken on the processes of a world.
import type { Chaos } from "./plan.ts";
import type { World } from "./world.ts";

export async function strike({ gateways, simulator, store, history }: World, chaos: Chaos): Promise<void> {
  if (chaos.do === "pause_provider") {
    history.stroke(chaos.do);
    return simulator.pause(chaos.ms);
  }
  const gateway = chaos.do === "lock_store" ? gateways[0] : gateways[chaos.gateway % gateways.length];
  if (gateway === undefined || gateway.busy) return; // strokes do not pile up behind a slow one
  history.stroke(chaos.do);
  switch (chaos.do) {
    case "kill":
      return gateway.kill(chaos.downMs);
    case "restart":
      return gateway.restart();
    case "crash_at":
      return gateway.kill(0, `${chaos.hook}:${chaos.n}`);
    case "pause":
      return gateway.pause(chaos.ms);
    case "lock_store":
      return gateway.whileUp(() => store.lock(chaos.ms));
  }
}
