// Plays a plan on a world: each step at its time, many at once, until the plan or the time is over. What a step found
// goes into the history; a step that could not be taken is recorded as an accident of the run.
import { send } from "./caller.ts";
import * as operatorActions from "./operator-actions.ts";
import type { Exchange, KeyFacts } from "./history.ts";
import type { Chaos, Plan, PlannedCustomer, Step, Traffic } from "./plan.ts";
import { OUTAGE_MET_MS } from "./client-balancer.ts";
import { inject } from "./fault.ts";
import { openKey, type World } from "./world.ts";

/** How many of our requests may be open at once; beyond that the driver waits, in the order of the plan. */
const OPEN_AT_MOST = 160;
/** A start that takes longer is recorded as an accident; the plan goes on. */
const OUTAGE_ENDS_WITHIN_MS = 60_000;

export class Driver {
  private open = 0;
  private customers: readonly PlannedCustomer[] = [];
  private roomForOne: PromiseWithResolvers<void> | null = null;
  private readonly running = new Set<Promise<void>>();
  /** Keys being created, by their number in the plan. */
  private readonly opening = new Map<number, Promise<void>>();

  constructor(
    private readonly world: World,
    private readonly progress: (playedMs: number) => void = () => {},
  ) {}

  /** The time in which nobody serves is added to the plan's. */
  async play(plan: Plan): Promise<void> {
    this.customers = plan.customers;
    const startedMs = performance.now();
    let stoodMs = 0;
    const played = (): number => performance.now() - startedMs - stoodMs;
    for (const step of plan.steps) {
      if (step.atMs > played()) await Bun.sleep(step.atMs - played());
      stoodMs += await this.whileDown();
      this.progress(played());
      if (played() >= plan.ms) break;
      while (this.open >= OPEN_AT_MOST) await (this.roomForOne ??= Promise.withResolvers<void>()).promise;
      this.begin(step);
    }
    while (this.running.size > 0) await Promise.all(this.running);
  }

  /**
   * Requests hit only the beginning of an outage: seconds of refused connections would find nothing. The plan's clock
   * stops meanwhile. Returns for how many milliseconds it stopped.
   */
  private async whileDown(): Promise<number> {
    const nobody = (): boolean => this.world.gateways.every(({ downForMs }) => downForMs >= OUTAGE_MET_MS);
    if (!nobody()) return 0;
    const sinceMs = performance.now();
    while (nobody() && performance.now() - sinceMs < OUTAGE_ENDS_WITHIN_MS) await Bun.sleep(10);
    return performance.now() - sinceMs;
  }

  private begin(step: Step): void {
    this.open += 1;
    const action = this.take(step)
      .catch((error: unknown) => {
        const what = `${step.do}: ${error instanceof Error ? error.message : String(error)}`;
        this.world.history.accidents.push({ what, atMs: Date.now() });
      })
      .finally(() => {
        this.running.delete(action);
        this.open -= 1;
        this.roomForOne?.resolve();
        this.roomForOne = null;
      });
    this.running.add(action);
  }

  private async take(step: Traffic | Chaos): Promise<void> {
    const { world } = this;
    switch (step.do) {
      case "send":
      case "repeat":
      case "misuse":
        return this.exchange(step);
      case "open_key": {
        const made = openKey(world, step.key, this.customers);
        this.opening.set(step.key.id, made);
        return made;
      }
      case "revoke":
        return operatorActions.revoke(world, await this.key(step.key));
      case "limit":
        return operatorActions.limit(world, await this.key(step.key), step.nano);
      case "pause_key":
        return operatorActions.pauseKey(world, await this.key(step.key), step.ms);
      case "top_up":
        return operatorActions.topUp(world, step);
      case "switch":
        return operatorActions.switchOff(world, step);
      case "publish":
        return operatorActions.publish(world, step);
      case "watch":
        return operatorActions.watch(world, step.customer);
      case "audit":
        return operatorActions.audit(world);
      case "kill":
      case "restart":
      case "crash_at":
      case "rot_record":
      case "pause":
      case "pause_provider":
      case "lock_store":
      case "kill_database":
      case "freeze_database":
      case "cut_connection":
      case "promote_standby":
        return inject(world, step);
    }
  }

  private async exchange(step: Extract<Traffic, { request: unknown }>): Promise<void> {
    const { secret } = await this.key(step.request.key);
    const { history, balancer } = this.world;
    // A misuse needs a stored answer: before that, its body would be the first one.
    if (step.do === "misuse" && !history.exchanges.some((other) => isAnswerOf(other, step.request.id)))
      return;
    const { request, do: kind } = step;
    const leave = step.do === "misuse" ? null : step.leave;
    const after = step.do === "repeat" ? step.after : null;
    history.exchanges.push(
      await send({ gateway: balancer.next(request.id), secret, kind, request, leave, after, healed: false }),
    );
  }

  private async key(plan: number): Promise<KeyFacts> {
    await this.opening.get(plan);
    const facts = this.world.history.keys.get(plan);
    if (facts === undefined) throw new Error(`key ${plan} was never opened`);
    return facts;
  }
}

const isAnswerOf = ({ request, kind, ending, status, after }: Exchange, id: number): boolean =>
  request.id === id && kind !== "misuse" && ending === "whole" && status === 200 && after === null;
