// What the requests of coding agents cost, which most of today's traffic consists of: many tools, many short messages.
import { agentBody } from "../agent-body.ts";
import { jsonFigures } from "./json-cost.ts";
import type { Figure } from "../figure.ts";
import type { Bench } from "./bench.ts";

const MODEL = "bench-json-1k";
const STEPS = [4, 20, 80] as const;
const CONCURRENCY = 16;

export async function agentRequests(bench: Bench): Promise<Figure[]> {
  const { jsonMs, warmUpMs } = bench.plan;
  const figures: Figure[] = [];
  for (const steps of STEPS) {
    const body = agentBody(MODEL, steps);
    const kb = Math.round(body.length / 1024);
    const cost = { model: MODEL, concurrency: CONCURRENCY, durationMs: jsonMs, warmUpMs, body } as const;
    figures.push(
      ...(await jsonFigures(bench, `Agent's request of ${kb} KB, ${CONCURRENCY} in flight`, cost)),
    );
  }
  return figures;
}
