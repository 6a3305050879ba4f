// Draws a plan from a seed. Traffic and chaos come from separate streams of numbers, so that a run without chaos sends
// the same requests as the one with it.
import { EVERYTHING, type Mix } from "./mix.ts";
import { MODELS } from "./models.ts";
import type {
  Chaos,
  Leave,
  Plan,
  PlannedCustomer,
  PlannedKey,
  PlannedRequest,
  StandIn,
  Step,
  Traffic,
} from "./plan.ts";
import { Random } from "./random.ts";

const CUSTOMERS: readonly PlannedCustomer[] = [
  { id: 0, kind: "rich", nano: 1_000_000_000_000n },
  { id: 1, kind: "rich", nano: 1_000_000_000_000n },
  { id: 2, kind: "poor", nano: 3_000_000n },
  { id: 3, kind: "poor", nano: 3_000_000n },
  { id: 4, kind: "limited", nano: 1_000_000_000_000n },
];
const KEYS_OF: Record<StandIn, number> = { rich: 3, poor: 1, limited: 2 };
/** The names of money.md §3 that exist on the SQLite store. */
export const CRASH_POINTS = [
  "before_commit1",
  "after_commit1",
  "after_request_bytes",
  "after_provider_refusal",
  "after_first_part",
  "mid_stream",
  "before_commit2",
  "after_commit2",
  "after_last_byte",
  "in_sweep",
] as const;
/** How far back a repeat reaches, in keyed requests. */
const REMEMBERED = 400;
const TWINS_WITHIN_MS = 40;

export function makePlan(from: { seed: number; ms: number; gateways: number; mix?: Mix }): Plan {
  const { seed, ms, gateways, mix = EVERYTHING } = from;
  const random = new Random(seed);
  const planner = new Planner(random.fork("traffic"), mix, seed);
  const keys = [...planner.keys];
  const steps: Step[] = [];
  for (let atMs = 0; atMs < ms; atMs += planner.gapMs())
    steps.push(...planner.next(atMs).filter((step) => step.atMs < ms));
  if (mix.chaosGapMs !== null) {
    const fate = random.fork("chaos");
    for (let atMs = 500; atMs < ms; atMs += 200 + fate.gap(mix.chaosGapMs - 200))
      steps.push({ atMs, ...stroke(fate, mix, gateways) });
  }
  steps.sort((a, b) => a.atMs - b.atMs);
  return { seed, ms, customers: [...CUSTOMERS], keys, steps };
}

function stroke(fate: Random, mix: Mix, gateways: number): Chaos {
  const gateway = fate.between(0, gateways - 1);
  const kind = fate.weighted(mix.chaos);
  switch (kind) {
    case "kill":
      return { do: kind, gateway, downMs: fate.chance(0.7) ? 0 : fate.between(50, 500) };
    case "restart":
      return { do: kind, gateway };
    case "crash_at":
      return { do: kind, gateway, hook: fate.pick(CRASH_POINTS), n: fate.between(1, 20) };
    case "pause":
      return { do: kind, gateway, ms: fate.between(100, 900) };
    case "pause_provider":
      return { do: kind, ms: fate.between(100, 900) };
    case "lock_store":
      return {
        do: kind,
        ms: fate.chance(mix.longLocks) ? fate.between(5_200, 6_000) : fate.between(50, 800),
      };
  }
}

class Planner {
  readonly keys: PlannedKey[] = [];
  private readonly live = new Map<number, PlannedKey>();
  private readonly keyed: PlannedRequest[] = [];
  private requests = 0;
  private topUps = 0;
  private readonly models: Record<string, number>;

  constructor(
    private readonly random: Random,
    private readonly mix: Mix,
    private readonly seed: number,
  ) {
    for (const { id, kind } of CUSTOMERS) for (let n = 0; n < KEYS_OF[kind]; n += 1) this.newKey(id);
    this.models = Object.fromEntries(
      MODELS.filter(({ name }) => mix.models?.includes(name) ?? true).map(({ name, weight }) => [
        name,
        weight,
      ]),
    );
  }

  gapMs(): number {
    return this.random.gap(this.mix.gapMs);
  }

  /** The next steps of traffic; some come in company. */
  next(atMs: number): Step[] {
    const kind = this.random.weighted(this.mix.traffic);
    switch (kind) {
      case "send":
        return this.sends(atMs);
      case "burst":
        return this.burst(atMs);
      case "repeat":
      case "misuse":
        return this.again(kind, atMs);
      case "revoke":
        return this.revoke(atMs);
      case "limit":
      case "top_up":
      case "switch":
      case "watch":
      case "audit":
        return [{ atMs, ...this.errand(kind) }];
    }
  }

  private errand(kind: "limit" | "top_up" | "switch" | "watch" | "audit"): Traffic {
    const { random } = this;
    switch (kind) {
      case "limit": {
        const key = this.keyOf("limited");
        return { do: kind, key: key.id, nano: BigInt(random.between(0, 120)) * 100_000n };
      }
      case "top_up": {
        this.topUps += 1;
        const repeated = this.topUps > 1 && random.chance(0.3);
        const n = repeated ? random.between(1, this.topUps - 1) : this.topUps;
        const customer = CUSTOMERS[2 + (n % 2)]?.id ?? 0;
        return { do: kind, customer, nano: 1_000_000n + BigInt(n) * 1_000n, reference: `top-up-${n}` };
      }
      case "switch": {
        const names = MODELS.filter(({ switched }) => switched).map(({ name }) => name);
        return { do: kind, model: random.pick(names), ms: random.between(50, 700) };
      }
      case "watch":
        return { do: kind, customer: random.pick(CUSTOMERS).id };
      case "audit":
        return { do: kind };
    }
  }

  /** A request, sometimes with duplicates at the same moment. */
  private sends(atMs: number): Step[] {
    const { random } = this;
    const request = this.request(this.keyOf(random.weighted(this.mix.customers)));
    const first: Step = { atMs, do: "send", request, leave: this.leave() };
    if (request.idempotencyKey === null || !random.chance(0.2)) return [first];
    const twins = Array.from(
      { length: random.between(1, 3) },
      (): Step => ({
        atMs: atMs + random.between(0, TWINS_WITHIN_MS),
        do: "repeat",
        request,
        leave: this.leave(),
        after: null,
      }),
    );
    return [first, ...twins];
  }

  /** Many requests at once on money that does not cover them all. */
  private burst(atMs: number): Step[] {
    const key = this.keyOf(this.random.pick(["poor", "limited"]));
    return Array.from(
      { length: this.random.between(12, 30) },
      (): Step => ({
        atMs,
        do: "send",
        request: this.request(key, "steady"),
        leave: null,
      }),
    );
  }

  private again(kind: "repeat" | "misuse", atMs: number): Step[] {
    const { random, keyed } = this;
    if (keyed.length === 0) return this.sends(atMs);
    const recent = random.chance(0.6) ? keyed.slice(-12) : keyed.slice(-REMEMBERED);
    const request = random.pick(recent);
    if (kind === "misuse") return [{ atMs, do: kind, request }];
    const after = request.stream && random.chance(0.2) ? random.between(1, 12) : null;
    return [{ atMs, do: kind, request, leave: this.leave(), after }];
  }

  /** A key dies while it is used, and another one takes its place. */
  private revoke(atMs: number): Step[] {
    const key = this.keyOf("rich");
    const uses = Array.from(
      { length: 6 },
      (): Step => ({
        atMs: atMs + this.random.between(-60, 400),
        do: "send",
        request: this.request(key),
        leave: null,
      }),
    );
    this.live.delete(key.id);
    const successor = this.newKey(key.customer);
    return [
      { atMs: Math.max(0, atMs - 300), do: "open_key", key: successor },
      { atMs, do: "revoke", key: key.id },
      ...uses.map((step) => ({ ...step, atMs: Math.max(0, step.atMs) })),
    ];
  }

  private request(key: PlannedKey, model?: string): PlannedRequest {
    const { random, mix } = this;
    const id = (this.requests += 1);
    const request: PlannedRequest = {
      id,
      key: key.id,
      model: model ?? random.weighted(this.models),
      stream: random.chance(mix.streams),
      includeUsage: random.chance(0.5),
      maxTokens: random.chance(0.8) ? random.between(4, 48) : null,
      words: random.between(1, 30),
      idempotencyKey: random.chance(mix.keyed) ? this.idempotencyKey(key, id) : null,
    };
    if (request.idempotencyKey !== null) this.keyed.push(request);
    return request;
  }

  /** Mostly fresh; now and then the string that another API key used, which is another request. */
  private idempotencyKey(key: PlannedKey, id: number): string {
    const other = this.keyed.at(-1);
    const borrows = other !== undefined && other.key !== key.id && this.random.chance(0.05);
    const taken =
      borrows &&
      this.keyed.some((request) => request.key === key.id && request.idempotencyKey === other.idempotencyKey);
    return borrows && !taken ? (other.idempotencyKey ?? "") : `torture-${this.seed}-${id}`;
  }

  private leave(): Leave {
    const { random } = this;
    if (!random.chance(this.mix.leaving)) return null;
    return random.chance(0.5)
      ? { afterMs: random.between(0, 400) }
      : { afterBytes: random.between(1, 4_000) };
  }

  private keyOf(kind: StandIn): PlannedKey {
    const ids = CUSTOMERS.filter((customer) => customer.kind === kind).map(({ id }) => id);
    return this.random.pick([...this.live.values()].filter(({ customer }) => ids.includes(customer)));
  }

  private newKey(customer: number): PlannedKey {
    const limited = CUSTOMERS[customer]?.kind === "limited";
    const limitNano = limited ? BigInt(this.random.between(20, 120)) * 100_000n : null;
    const key = { id: this.keys.length, customer, limitNano };
    this.keys.push(key);
    this.live.set(key.id, key);
    return key;
  }
}
