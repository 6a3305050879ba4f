// Carries out a stroke of chaos on the processes of a world.
import type { Absence } from "./history.ts";
import type { Chaos } from "./plan.ts";
import type { PostgresStore } from "./postgres-store.ts";
import type { World } from "./world.ts";

/** The longest absence of the last serving gateway; a longer one matters only while others are up. */
const LAST_ONE_MS = 900;

/**
 * The end of an outage is noticed connection by connection: for this long a gateway may look healthy without being
 * so.
 */
const NOTICED_WITHIN_MS = 500;

export async function inject(world: World, chaos: Chaos): Promise<void> {
  const { simulator, store, history } = world;
  switch (chaos.do) {
    case "pause_provider":
      history.stroke(chaos.do);
      return simulator.pause(chaos.ms);
    case "lock_store":
      if (store.kind === "sqlite") return await locked(world, chaos);
      return outage(world, store, chaos);
    case "kill_database":
    case "freeze_database":
    case "cut_connection":
    case "promote_standby":
      if (store.kind === "postgres") return outage(world, store, chaos);
      return;
    case "kill":
    case "restart":
    case "crash_at":
    case "rot_record":
    case "pause":
      return hit(world, chaos);
  }
}

async function hit(
  { gateways, history, store }: World,
  chaos: Extract<Chaos, { gateway: number }>,
): Promise<void> {
  const gateway = gateways[chaos.gateway % gateways.length];
  if (gateway === undefined || gateway.busy) return; // do not queue strokes behind a slow one
  const alone = gateways.every((other) => other === gateway || other.awayForMs > 0);
  const within = (ms: number): number => (alone ? Math.min(ms, LAST_ONE_MS) : ms);
  history.stroke(chaos.do);
  switch (chaos.do) {
    case "kill":
      return gateway.kill(within(chaos.downMs));
    case "restart":
      return gateway.restart();
    case "crash_at":
      return gateway.kill(0, `${chaos.hook}:${chaos.n}`);
    case "rot_record":
      await rot(store, history);
      return gateway.kill(0);
    case "pause":
      return gateway.pause(within(chaos.ms));
  }
}

const STREAM_FOUND_WITHIN_MS = 2_000;

/** Corrupts a record of a running stream, so that the next gateway to die leaves it behind. */
async function rot(store: World["store"], history: World["history"]): Promise<void> {
  for (
    const untilMs = performance.now() + STREAM_FOUND_WITHIN_MS;
    performance.now() < untilMs;
    await Bun.sleep(50)
  ) {
    const requestId = await store.rot().catch(() => null); // the store may be down or locked
    if (requestId === null) continue;
    history.rotten.add(requestId);
    return;
  }
}

/** Locks a file that belongs to one gateway. */
async function locked({ gateways, store, history }: World, { ms }: { ms: number }): Promise<void> {
  const [gateway] = gateways;
  if (gateway === undefined || gateway.busy) return;
  history.stroke("lock_store");
  await gateway.whileUp(() => store.lock(ms));
}

type Outage = Extract<
  Chaos,
  { do: "lock_store" | "kill_database" | "freeze_database" | "cut_connection" | "promote_standby" }
>;

/** An outage of the database that all gateways share; it ends when all of them serve again. */
async function outage(world: World, store: PostgresStore, chaos: Outage): Promise<void> {
  const { gateways, history, startGate } = world;
  if (history.pauses.some(({ what, endMs }) => what === chaos.do && endMs === null)) return;
  await startGate.outage(async () => {
    history.stroke(chaos.do);
    const span: Absence = { what: chaos.do, gateway: null, startMs: Date.now(), endMs: null };
    history.pauses.push(span);
    await taken(store, chaos);
    await Bun.sleep(NOTICED_WITHIN_MS);
    await Promise.all(gateways.map((gateway) => gateway.recovered()));
    span.endMs = Date.now();
  });
}

function taken(store: PostgresStore, chaos: Outage): Promise<void> {
  switch (chaos.do) {
    case "lock_store":
      return store.lock(chaos.ms);
    case "kill_database":
      return store.kill(chaos.downMs);
    case "freeze_database":
      return store.freeze(chaos.ms);
    case "cut_connection":
      return store.cut(chaos);
    case "promote_standby":
      return store.promote(chaos.lagMs);
  }
}
