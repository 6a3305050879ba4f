// The requests of a plan and the keys that they are sent with.
import type { Mix } from "./mix.ts";
import { modelNamed, MODELS, RESEARCH, tierOf, VECTORS } from "./models.ts";
import type { Leave, Period, PlannedCustomer, PlannedKey, PlannedRequest, StandIn } from "./plan.ts";
import type { Random } from "./random.ts";

export const CUSTOMERS: readonly PlannedCustomer[] = [
  { id: 0, kind: "rich", nano: 1_000_000_000_000n },
  { id: 1, kind: "rich", nano: 1_000_000_000_000n },
  { id: 2, kind: "poor", nano: 3_000_000n },
  { id: 3, kind: "poor", nano: 3_000_000n },
  { id: 4, kind: "limited", nano: 1_000_000_000_000n },
  { id: 5, kind: "research", nano: 1_000_000_000_000n },
  { id: 6, kind: "crowd", nano: 1_000_000_000_000n },
  { id: 7, kind: "flooder", nano: 3_000_000n },
];
const KEYS_OF: Record<StandIn, number> = { rich: 3, poor: 1, limited: 3, research: 1, crowd: 1, flooder: 1 };

const PERIODS: readonly Period[] = ["month", "day", "week"];

const kindOf = ({ customer }: Pick<PlannedKey, "customer">): StandIn => {
  const planned = CUSTOMERS[customer];
  if (planned === undefined) throw new Error(`no customer ${customer}`);
  return planned.kind;
};

export class RequestPlanner {
  /** All keys, in the order of their numbers. */
  readonly keys: PlannedKey[] = [];
  /** The keys that have not been revoked. */
  readonly live = new Map<number, PlannedKey>();
  /** Requests with a caller's key, in the order of their first sending. */
  readonly keyed: PlannedRequest[] = [];
  private requests = 0;
  private readonly models: Record<string, number>;
  /** True if embeddings may be requested. */
  private readonly vectors: boolean;
  /** Draws surfaces, and nothing else. */
  private readonly spoken: Random;

  constructor(
    private readonly random: Random,
    private readonly mix: Mix,
    private readonly seed: number,
  ) {
    for (const { id, kind } of CUSTOMERS) for (let n = 0; n < KEYS_OF[kind]; n += 1) this.newKey(id);
    const chosen = MODELS.filter(
      ({ name }) => tierOf(name) === "standard" && name !== VECTORS && (mix.models?.includes(name) ?? true),
    );
    this.vectors = mix.models?.includes(VECTORS) ?? true;
    this.spoken = random.fork("surfaces");
    this.models = Object.fromEntries(chosen.map(({ name, weight }) => [name, weight]));
  }

  request(key: PlannedKey, model?: string): PlannedRequest {
    const { random, mix } = this;
    const id = this.newId();
    const drawn = model ?? (kindOf(key) === "research" ? RESEARCH : random.weighted(this.models));
    const spoken = this.spoken.weighted(mix.surfaces);
    const vectors = spoken === "embeddings" && model === undefined && drawn !== RESEARCH && this.vectors;
    const streams = random.chance(mix.streams);
    const request: PlannedRequest = {
      id,
      key: key.id,
      model: vectors ? VECTORS : drawn,
      surface: vectors || (spoken !== "embeddings" && modelNamed(drawn).files !== true) ? spoken : "chat",
      stream: streams && !vectors,
      includeUsage: random.chance(0.5),
      maxTokens: random.chance(0.8) ? random.between(4, 48) : null,
      words: random.between(1, 30),
      ideographs: 0,
      idempotencyKey: random.chance(mix.keyed) ? this.idempotencyKey(key, id) : null,
    };
    if (request.idempotencyKey !== null) this.keyed.push(request);
    return request;
  }

  newId(): number {
    this.requests += 1;
    return this.requests;
  }

  /** Usually a fresh one; sometimes the string that another API key used, which makes it another request. */
  private idempotencyKey(key: PlannedKey, id: number): string {
    const other = this.keyed.at(-1);
    const borrows = other !== undefined && other.key !== key.id && this.random.chance(0.05);
    const taken =
      borrows &&
      this.keyed.some((request) => request.key === key.id && request.idempotencyKey === other.idempotencyKey);
    return borrows && !taken ? (other.idempotencyKey ?? "") : `torture-${this.seed}-${id}`;
  }

  leave(): Leave {
    const { random } = this;
    if (!random.chance(this.mix.leaving)) return null;
    return random.chance(0.5)
      ? { afterMs: random.between(0, 400) }
      : { afterBytes: random.between(1, 4_000) };
  }

  keyOf(kind: StandIn): PlannedKey {
    const ids = CUSTOMERS.filter((customer) => customer.kind === kind).map(({ id }) => id);
    return this.random.pick([...this.live.values()].filter(({ customer }) => ids.includes(customer)));
  }

  newKey(customer: number): PlannedKey {
    const limitNano =
      kindOf({ customer }) === "limited" ? BigInt(this.random.between(20, 120)) * 100_000n : null;
    // Uses each period in turn.
    const limited = this.keys.filter((other) => other.limitNano !== null).length;
    const period = PERIODS[limited % PERIODS.length] ?? "month";
    const key: PlannedKey = { id: this.keys.length, customer, limitNano, period, endsInMs: null };
    this.keys.push(key);
    this.live.set(key.id, key);
    return key;
  }
}
