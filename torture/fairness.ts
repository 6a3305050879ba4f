// One tenant floods the gateway with prompts that are expensive to count and that it cannot pay for; another tenant's
// calls must go on as if alone. Measured after the healing, on idle gateways, alternately with and without the flood.
import { bodyOf } from "./caller.ts";
import type { KeyFacts } from "./history.ts";
import type { PlannedRequest, StandIn } from "./plan.ts";
import { RATED, type World } from "./world.ts";

export interface Fairness {
  /** The 99th percentile of the victim's calls, in milliseconds, to the last byte. */
  aloneMs: number;
  floodedMs: number;
  /** Prompts of the flood that were answered meanwhile. */
  flood: number;
}

/** The best round counts: other work on the machine may have disturbed the rest. */
const ROUNDS_AT_MOST = 3;
/** How long a victim's slowest calls may take beside a flood, as a multiple of their time alone. */
const SLOWER_AT_MOST = 3;
const LANES = 4;
const CALLS_PER_LANE = 60;
const FLOOD_LANES = 6;
/** Far beyond the window by their byte bound: 1.2 MB each. */
const IDEOGRAPHS = 400_000;
/** One whose prompt is counted, and one that is settled by counting. */
const VICTIMS_MODELS = ["steady", "silent-about-usage"] as const;
const ANSWERED_WITHIN_MS = 20_000;

export const isFair = ({ aloneMs, floodedMs }: Fairness): boolean => floodedMs <= aloneMs * SLOWER_AT_MOST;

/** Rounds without and with the flood, interleaved, until one is fair. */
export async function measureFairness(world: World): Promise<Fairness[]> {
  const victim = keyOf(world, "rich");
  const flooder = keyOf(world, "flooder");
  const bodies = Array.from({ length: FLOOD_LANES * 4 }, (_, n) =>
    JSON.stringify(bodyOf(plannedOf(n, "steady", IDEOGRAPHS))),
  );
  const rounds: Fairness[] = [];
  await victimsCalls(world, victim); // warm-up
  while (rounds.length < ROUNDS_AT_MOST && !rounds.some(isFair)) {
    const aloneMs = await victimsCalls(world, victim);
    const flood = new Flood(world, flooder, bodies);
    const floodedMs = await victimsCalls(world, victim);
    rounds.push({ aloneMs, floodedMs, flood: await flood.stop() });
  }
  return rounds;
}

class Flood {
  private running = true;
  private answered = 0;
  private readonly lanes: Promise<void>[];

  constructor(
    private readonly world: World,
    private readonly key: KeyFacts,
    private readonly bodies: readonly string[],
  ) {
    this.lanes = Array.from({ length: FLOOD_LANES }, (_, lane) => this.lane(lane));
  }

  async stop(): Promise<number> {
    this.running = false;
    await Promise.all(this.lanes);
    return this.answered;
  }

  private async lane(first: number): Promise<void> {
    for (let n = first; this.running; n += FLOOD_LANES) {
      await post(this.world, this.key, this.bodies[n % this.bodies.length] ?? "", n);
      this.answered += 1;
    }
  }
}

async function victimsCalls(world: World, key: KeyFacts): Promise<number> {
  const tookMs: number[] = [];
  const lane = async (first: number): Promise<void> => {
    for (let n = first; n < CALLS_PER_LANE * LANES; n += LANES) {
      const model = VICTIMS_MODELS[n % VICTIMS_MODELS.length] ?? "steady";
      const startedMs = performance.now();
      const status = await post(world, key, JSON.stringify(bodyOf(plannedOf(n, model, 0))), n);
      tookMs.push(performance.now() - startedMs);
      if (status !== 200)
        world.history.accidents.push({
          what: `a flood's victim got ${status ?? "nothing"}`,
          atMs: Date.now(),
        });
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, n) => lane(n)));
  return tookMs.sort((a, b) => a - b)[Math.floor(tookMs.length * 0.99)] ?? 0;
}

/** The status, once the last byte has arrived; null if it did not arrive in time. */
async function post(world: World, { secret }: KeyFacts, body: string, n: number): Promise<number | null> {
  try {
    const answer = await fetch(`${world.balancer.from(n).url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body,
      signal: AbortSignal.timeout(ANSWERED_WITHIN_MS),
    });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return null;
  }
}

function keyOf({ history }: World, kind: StandIn): KeyFacts {
  const ids = [...history.customers.values()].filter((customer) => customer.kind === kind);
  const found = [...history.keys.values()].find(
    ({ plan: key, customer, revoked, expiresAtMs }) =>
      revoked === null &&
      expiresAtMs === null &&
      key !== RATED.key &&
      ids.some(({ plan }) => plan === customer),
  );
  if (found === undefined) throw new Error(`no ${kind} key is left`);
  return found;
}

const plannedOf = (id: number, model: string, ideographs: number): PlannedRequest => ({
  id,
  key: 0,
  model,
  surface: "chat",
  stream: ideographs === 0 && id % 4 > 1,
  includeUsage: false,
  maxTokens: 16,
  words: 12,
  ideographs,
  idempotencyKey: null,
});
