// Plays a plan on a world: each step at its time, many at once, until the plan or its time is over. What a step found out goes into the history; a step that
// could not be taken is an accident of the run, never silence.
import { formatUsd, nanoUsd } from "../src/contract/money.ts";
import { send } from "./caller.ts";
import type { Closing, Exchange, KeyFacts } from "./history.ts";
import { modelNamed, routeIds } from "./models.ts";
import { asked } from "./operator.ts";
import type { Chaos, Plan, Step, Traffic } from "./plan.ts";
import { openKey, type World } from "./world.ts";

/** Requests of ours that may be open at once; beyond it the driver waits, in the order of the plan. */
const OPEN_AT_MOST = 160;
const OUTAGE_MET_MS = 250;

export class Driver {
  private open = 0;
  private roomForOne: PromiseWithResolvers<void> | null = null;
  private readonly errands = new Set<Promise<void>>();
  /** Keys that are being made, by their number in the plan. */
  private readonly opening = new Map<number, Promise<void>>();

  constructor(
    private readonly world: World,
    private readonly progress: (playedMs: number) => void = () => {},
  ) {}

  async play(plan: Plan): Promise<void> {
    const startedMs = performance.now();
    let stoodMs = 0;
    const played = (): number => performance.now() - startedMs - stoodMs;
    for (const step of plan.steps) {
      if (step.atMs > played()) await Bun.sleep(step.atMs - played());
      stoodMs += await this.whileDown();
      this.progress(played() + stoodMs);
      if (played() + stoodMs >= plan.ms) break;
      while (this.open >= OPEN_AT_MOST) await (this.roomForOne ??= Promise.withResolvers<void>()).promise;
      this.begin(step);
    }
    while (this.errands.size > 0) await Promise.all(this.errands);
  }

  /**
   * Plans meet the beginning of an outage, not all of it: knocking at a closed port for seconds finds nothing. Their
   * clock stands still meanwhile. Returns for how many milliseconds.
   */
  private async whileDown(): Promise<number> {
    const down = this.world.history.downs.at(-1);
    if (down === undefined || down.endMs !== null || Date.now() - down.startMs < OUTAGE_MET_MS) return 0;
    const sinceMs = performance.now();
    while (down.endMs === null) await Bun.sleep(10);
    return performance.now() - sinceMs;
  }

  private begin(step: Step): void {
    this.open += 1;
    const errand = this.take(step)
      .catch((error: unknown) => {
        const what = `${step.do}: ${error instanceof Error ? error.message : String(error)}`;
        this.world.history.accidents.push({ what, atMs: Date.now() });
      })
      .finally(() => {
        this.errands.delete(errand);
        this.open -= 1;
        this.roomForOne?.resolve();
        this.roomForOne = null;
      });
    this.errands.add(errand);
  }

  private async take(step: Traffic | Chaos): Promise<void> {
    const { world } = this;
    switch (step.do) {
      case "send":
      case "repeat":
      case "misuse":
        return this.exchange(step);
      case "open_key": {
        const made = openKey(world, step.key);
        this.opening.set(step.key.id, made);
        return made;
      }
      case "revoke":
        return this.revoke(await this.key(step.key));
      case "limit":
        return this.limit(await this.key(step.key), step.nano);
      case "top_up":
        return this.topUp(step);
      case "switch":
        return this.switchOff(step);
      case "watch":
        return this.watch(step.customer);
      case "audit":
        return this.audit();
      case "kill":
      case "restart":
      case "crash_at":
      case "pause":
      case "pause_provider":
      case "lock_store":
        return strike(world, step);
    }
  }

  private async exchange(step: Extract<Traffic, { request: unknown }>): Promise<void> {
    const { secret } = await this.key(step.request.key);
    const { history, gateways } = this.world;
    // A misuse needs an answer that is kept: before that, its body would be the first one.
    if (step.do === "misuse" && !history.exchanges.some((other) => isAnswerOf(other, step.request.id)))
      return;
    const url = gateways[step.request.id % gateways.length]?.url ?? "";
    const { request, do: kind } = step;
    const leave = step.do === "misuse" ? null : step.leave;
    const after = step.do === "repeat" ? step.after : null;
    history.exchanges.push(await send({ url, secret, kind, request, leave, after, healed: false }));
  }

  private async key(plan: number): Promise<KeyFacts> {
    await this.opening.get(plan);
    const facts = this.world.history.keys.get(plan);
    if (facts === undefined) throw new Error(`key ${plan} was never opened`);
    return facts;
  }

  private async revoke(key: KeyFacts): Promise<void> {
    key.revoked = asked();
    await this.world.operator.change(key.revoked, "POST", `/keys/${key.keyId}/revoke`, {});
  }

  private async limit(key: KeyFacts, nano: bigint): Promise<void> {
    key.limits.push(nano);
    await this.world.operator.change(asked(), "POST", `/keys/${key.keyId}/limit`, {
      usd: formatUsd(nanoUsd(nano)),
    });
  }

  private async topUp({ customer, nano, reference }: Extract<Traffic, { do: "top_up" }>): Promise<void> {
    const facts = this.world.history.customers.get(customer);
    const grant = { org: facts?.organizationId, usd: formatUsd(nanoUsd(nano)), kind: "purchase", reference };
    await this.world.operator.change(asked(), "POST", "/credits", grant);
    facts?.credited.set(reference, nano);
  }

  /** Closes every route of the model, then opens them again. */
  private async switchOff({ model, ms }: Extract<Traffic, { do: "switch" }>): Promise<void> {
    const { operator, history } = this.world;
    if (history.closings.some(({ what, endMs }) => what === model && endMs === null)) return;
    const closing: Closing = {
      what: model,
      startMs: Date.now(),
      closedMs: null,
      openingMs: null,
      endMs: null,
    };
    history.closings.push(closing);
    const routes = routeIds(modelNamed(model));
    for (const route of routes)
      await operator.change(asked(), "POST", "/routes/disable", { route, reason: "torture" });
    closing.closedMs = Date.now();
    await Bun.sleep(ms);
    closing.openingMs = Date.now();
    for (const route of routes) await operator.change(asked(), "POST", "/routes/enable", { route });
    closing.endMs = Date.now();
  }

  private async watch(customer: number): Promise<void> {
    const { operator, history } = this.world;
    const { json } = await operator.call(
      "GET",
      `/credits?org=${history.customers.get(customer)?.organizationId}`,
    );
    history.balances.push({ customer, atMs: Date.now(), balance: json as Record<string, string> });
  }

  private async audit(): Promise<void> {
    const { operator, history } = this.world;
    const { json } = await operator.call("GET", "/ledger/audit");
    history.auditsTaken += 1;
    if (json["ok"] !== true) history.audits.push({ atMs: Date.now(), report: json });
  }
}

const isAnswerOf = ({ request, kind, ending, status, after }: Exchange, id: number): boolean =>
  request.id === id && kind !== "misuse" && ending === "whole" && status === 200 && after === null;

async function strike({ gateways, simulator, store, history }: World, chaos: Chaos): Promise<void> {
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
