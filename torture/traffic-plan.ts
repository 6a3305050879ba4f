// Draws the traffic of a plan step by step; some steps come in groups.
import { DAY_MS } from "../src/domain/durations.ts";
import type { Mix } from "./mix.ts";
import { MODELS } from "./models.ts";
import type { PlannedKey, Step, Traffic } from "./plan.ts";
import type { Random } from "./random.ts";
import { CUSTOMERS, RequestPlanner } from "./request-plan.ts";

/** How far back a repeat reaches, in keyed requests. */
const REMEMBERED = 400;
const TWINS_WITHIN_MS = 40;

export class TrafficPlanner {
  readonly requests: RequestPlanner;
  private topUps = 0;

  constructor(
    private readonly random: Random,
    private readonly mix: Mix,
    seed: number,
  ) {
    this.requests = new RequestPlanner(random, mix, seed);
  }

  /** The keys that exist so far. */
  keys(): PlannedKey[] {
    return [...this.requests.keys];
  }

  gapMs(): number {
    return this.random.gap(this.mix.gapMs);
  }

  /** The next steps of traffic; some come in groups. */
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
      case "expire":
        return this.expire(atMs);
      case "publish":
        return this.publish(atMs);
      case "limit":
      case "pause_key":
      case "top_up":
      case "switch":
      case "watch":
      case "audit":
        return [{ atMs, ...this.action(kind) }];
    }
  }

  private action(kind: "limit" | "pause_key" | "top_up" | "switch" | "watch" | "audit"): Traffic {
    const { random } = this;
    switch (kind) {
      case "limit": {
        const key = this.requests.keyOf("limited");
        return { do: kind, key: key.id, nano: BigInt(random.between(0, 120)) * 100_000n };
      }
      case "pause_key":
        // These are never revoked.
        return { do: kind, key: this.requests.keyOf("limited").id, ms: random.between(100, 900) };
      case "top_up": {
        this.topUps += 1;
        const repeated = this.topUps > 1 && random.chance(0.3);
        const n = repeated ? random.between(1, this.topUps - 1) : this.topUps;
        const customer = CUSTOMERS[2 + (n % 2)]?.id ?? 0;
        return { do: kind, customer, nano: 300_000n + BigInt(n) * 1_000n, reference: `top-up-${n}` };
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
    const request = this.requests.request(this.requests.keyOf(random.weighted(this.mix.customers)));
    const first: Step = { atMs, do: "send", request, leave: this.requests.leave() };
    if (request.idempotencyKey === null || !random.chance(0.2)) return [first];
    const twins = Array.from(
      { length: random.between(1, 3) },
      (): Step => ({
        atMs: atMs + random.between(0, TWINS_WITHIN_MS),
        do: "repeat",
        request,
        leave: this.requests.leave(),
        after: null,
      }),
    );
    return [first, ...twins];
  }

  /** Many concurrent requests on credits that do not cover them all. */
  private burst(atMs: number): Step[] {
    const key = this.requests.keyOf(this.random.pick(["poor", "limited"]));
    return Array.from(
      { length: this.random.between(12, 30) },
      (): Step => ({
        atMs,
        do: "send",
        request: this.requests.request(key, "steady"),
        leave: null,
      }),
    );
  }

  private again(kind: "repeat" | "misuse", atMs: number): Step[] {
    const { random } = this;
    const { keyed, live } = this.requests;
    if (keyed.length === 0) return this.sends(atMs);
    const recent = random.chance(0.6) ? keyed.slice(-12) : keyed.slice(-REMEMBERED);
    const picked = random.pick(recent);
    const request = live.has(picked.key) || random.chance(0.3) ? picked : random.pick(recent);
    if (kind === "misuse") return [{ atMs, do: kind, request }];
    const after = request.stream && random.chance(0.2) ? random.between(1, 12) : null;
    return [{ atMs, do: kind, request, leave: this.requests.leave(), after }];
  }

  /** Revokes a key in use, and creates another in its place. */
  private revoke(atMs: number): Step[] {
    const key = this.requests.keyOf("rich");
    const uses = Array.from(
      { length: 6 },
      (): Step => ({
        atMs: atMs + this.random.between(-60, 400),
        do: "send",
        request: this.requests.request(key),
        leave: null,
      }),
    );
    this.requests.live.delete(key.id);
    const successor = this.requests.newKey(key.customer);
    return [
      { atMs: Math.max(0, atMs - 300), do: "open_key", key: successor },
      { atMs, do: "revoke", key: key.id },
      ...uses.map((step) => ({ ...step, atMs: Math.max(0, step.atMs) })),
    ];
  }

  /** A key that expires while in use. */
  private expire(atMs: number): Step[] {
    const endsInMs = this.random.between(800, 1_800);
    const key = { ...this.requests.newKey(CUSTOMERS[0]?.id ?? 0), endsInMs };
    this.requests.live.delete(key.id);
    const uses = Array.from(
      { length: 8 },
      (): Step => ({
        atMs: atMs + this.random.between(100, endsInMs + 800),
        do: "send",
        request: this.requests.request(key),
        leave: null,
      }),
    );
    return [{ atMs, do: "open_key", key }, ...uses];
  }

  /** Another price; sometimes on a release that expires at once, so that the model is closed until the next one. */
  private publish(atMs: number): Step[] {
    const { random } = this;
    const model = random.pick(MODELS.filter(({ repriced }) => repriced)).name;
    const terms = { nanoPerToken: BigInt(random.between(1, 4)) * 1_000n, expiresInMs: 30 * DAY_MS };
    const lasting: Step = { atMs, do: "publish", model, ...terms, older: random.chance(0.3) };
    if (random.chance(0.6)) return [lasting];
    const expiresInMs = random.between(2, 3) * 1_000;
    const after = atMs + expiresInMs + random.between(200, 900);
    return [
      { ...lasting, expiresInMs },
      { ...lasting, atMs: after },
    ];
  }
}
