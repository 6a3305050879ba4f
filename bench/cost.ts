// The CPU cost of one peer under one closed-loop load, warmed up first. Throws if a reply is not the expected one: a
// gateway that refuses is fast, and its figure would be meaningless.
import { CpuMeter } from "./cpu-meter.ts";
import { closedLoop } from "./load.ts";
import { chatBody, chatRequest } from "./request.ts";
import type { LoadResult } from "./load.ts";
import type { RunningPeer } from "./peer.ts";
import type { RequestSizeKb } from "./request.ts";
import type { ScriptName } from "./scripts.ts";

export interface CostPlan {
  model: ScriptName;
  concurrency: number;
  durationMs: number;
  warmUpMs: number;
  sizeKb?: RequestSizeKb;
  /** Starts of streams are spread over this time, so that they do not run in lockstep. */
  spreadMs?: number;
  expectStatus?: number;
  headers?: Record<string, string>;
  /** Overrides the body: one that is to be refused, or of another kind. */
  body?: string;
}

export interface Cost {
  cpuSeconds: number;
  /** CPU time of its database meanwhile; 0 for a peer without one. */
  databaseSeconds: number;
  load: LoadResult;
}

export async function costOf(peer: RunningPeer, plan: CostPlan): Promise<Cost> {
  if (peer.process === null) throw new Error(`${peer.name} has no process to measure`);
  const body = plan.body ?? chatBody(plan.model, plan.sizeKb);
  const load = {
    origin: peer.target.origin,
    request: chatRequest(peer.target, body, plan.headers),
    concurrency: plan.concurrency,
    ...(plan.expectStatus === undefined ? {} : { expectStatus: plan.expectStatus }),
    ...(plan.spreadMs === undefined ? {} : { spreadMs: plan.spreadMs }),
  };
  await closedLoop({ ...load, durationMs: plan.warmUpMs });
  const meter = new CpuMeter(peer.process);
  const before = peer.database?.cpuSeconds() ?? 0;
  const result = await closedLoop({ ...load, durationMs: plan.durationMs });
  const cpuSeconds = meter.seconds();
  const databaseSeconds = (peer.database?.cpuSeconds() ?? 0) - before;
  if (result.errors > 0)
    throw new Error(`${peer.name}, ${plan.model}: ${result.errors} of ${result.requests} replies failed`);
  return { cpuSeconds, databaseSeconds, load: result };
}

export const per1000Requests = (cost: Cost): number => (cost.cpuSeconds * 1000) / cost.load.requests;
export const databaseMicros = (cost: Cost): number => (cost.databaseSeconds * 1e6) / cost.load.requests;
export const microsPerEvent = (cost: Cost): number => (cost.cpuSeconds * 1e6) / cost.load.events;
export const requestsPerSecond = (cost: Cost): number => cost.load.requests / cost.load.seconds;
