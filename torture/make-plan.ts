// Draws a plan from a seed. Traffic and chaos use separate streams of numbers, so that a run without chaos sends the
// same requests as the one with it.
import { stroke } from "./chaos-plan.ts";
import { hostileAct } from "./hostile-plan.ts";
import { EVERYTHING, type Mix } from "./mix.ts";
import type { Plan, Step } from "./plan.ts";
import { Random } from "./random.ts";
import { CUSTOMERS } from "./request-plan.ts";
import { TrafficPlanner } from "./traffic-plan.ts";

const FIRST_STROKE_MS = 500;
const BETWEEN_STROKES_MS = 200;

/** When a standby takes over, as a share of the run. */
const PROMOTED_AT = 0.6;
/**
 * Longer than any session waits for an answer: what has not reached the standby by then must not count as committed.
 */
const LAG_AT_MOST_MS = 9_000;

export interface PlanOrder {
  seed: number;
  ms: number;
  gateways: number;
  mix?: Mix;
  /** True if the database has a standby, which takes over once. */
  standby?: boolean;
}

export function makePlan(order: PlanOrder): Plan {
  const { seed, ms, gateways, mix = EVERYTHING, standby = false } = order;
  const random = new Random(seed);
  const planner = new TrafficPlanner(random.fork("traffic"), mix, seed);
  const keys = planner.keys();
  const steps: Step[] = [];
  for (let atMs = 0; atMs < ms; atMs += planner.gapMs())
    steps.push(...planner.next(atMs).filter((step) => step.atMs < ms));
  if (mix.chaosGapMs !== null) {
    const fate = random.fork("chaos");
    const gapMs = (): number => BETWEEN_STROKES_MS + fate.gap((mix.chaosGapMs ?? 0) - BETWEEN_STROKES_MS);
    for (let atMs = FIRST_STROKE_MS; atMs < ms; atMs += gapMs())
      steps.push({ atMs, ...stroke(fate, mix, gateways) });
  }
  if (mix.hostileGapMs !== null) {
    const malice = random.fork("hostile");
    for (let atMs = FIRST_STROKE_MS; atMs < ms; atMs += malice.gap(mix.hostileGapMs))
      steps.push(...hostileAct(malice, planner.requests, { atMs, seed }).filter((step) => step.atMs < ms));
  }
  if (mix.rotGapMs !== null) {
    const rot = random.fork("rot");
    for (let atMs = rot.gap(mix.rotGapMs); atMs < ms; atMs += BETWEEN_STROKES_MS + rot.gap(mix.rotGapMs))
      steps.push({ atMs, do: "rot_record", gateway: rot.between(0, gateways - 1) });
  }
  if (standby) {
    const lagMs = random.fork("standby").between(0, LAG_AT_MOST_MS);
    steps.push({ atMs: Math.floor(ms * PROMOTED_AT), do: "promote_standby", lagMs });
  }
  steps.sort((a, b) => a.atMs - b.atMs);
  return { seed, ms, gateways, customers: [...CUSTOMERS], keys, steps };
}
