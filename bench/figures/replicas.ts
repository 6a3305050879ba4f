// What a request costs the gateways and their database when 1, 2 and 4 gateways share one PostgreSQL at the same
// total rate. A flat result means that capacity grows with gateways until the database is full (performance.md §2).
import { GOALS, figure } from "../figure.ts";
import { openLoop } from "../load.ts";
import { TOLLGATE_POSTGRES } from "../peer.ts";
import { chatBody, chatRequest } from "../request.ts";
import { startTollgate, type TollgatePeer } from "../tollgate-peer.ts";
import type { Figure } from "../figure.ts";
import type { Bench } from "./bench.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const RATE_PER_SECOND = 400;
const REPLICAS = [1, 2, 4];

interface Costs {
  gatewayMicros: number;
  databaseMicros: number;
}

export async function replicas(bench: Bench): Promise<Figure[]> {
  if (!bench.plan.extended || bench.database === null) return [];
  const figures: Figure[] = [];
  let one: Costs | null = null;
  for (const count of REPLICAS) {
    const costs = await costsOf(bench, count);
    one ??= costs;
    figures.push(...printed(count, costs, one));
  }
  return figures;
}

function printed(count: number, costs: Costs, one: Costs): Figure[] {
  const place = {
    section: `${count} gateways on one PostgreSQL, ${RATE_PER_SECOND}/s`,
    peer: TOLLGATE_POSTGRES,
  };
  const sum = costs.gatewayMicros + costs.databaseMicros;
  const goal = count === 1 ? null : GOALS.replicaCost;
  return [
    figure({ ...place, name: "gateway CPU per request", unit: "µs" }, [costs.gatewayMicros]),
    figure({ ...place, name: "database CPU per request", unit: "µs" }, [costs.databaseMicros]),
    figure(
      { ...place, name: "both, to that of one gateway", unit: "×" },
      [sum / (one.gatewayMicros + one.databaseMicros)],
      goal,
    ),
  ];
}

async function costsOf(bench: Bench, count: number): Promise<Costs> {
  const { database, plan, upstream, checkout } = bench;
  if (database === null) throw new Error("no PostgreSQL");
  const scratchDir = mkdtempSync(join(tmpdir(), "tollgate-replicas-"));
  const databaseUrl = await database.empty();
  const gateways: TollgatePeer[] = [];
  try {
    for (let n = 0; n < count; n += 1) {
      const [first] = gateways;
      gateways.push(
        await startTollgate(upstream, scratchDir, {
          name: `${TOLLGATE_POSTGRES}-${n}`,
          databaseUrl,
          checkout,
          ...(first !== undefined && { replicaOf: first }),
        }),
      );
    }
    await load(gateways, plan.warmUpMs);
    const before = [seconds(gateways), database.cpuSeconds()] as const;
    const requests = await load(gateways, plan.openMs);
    return {
      gatewayMicros: ((seconds(gateways) - before[0]) * 1e6) / requests,
      databaseMicros: ((database.cpuSeconds() - before[1]) * 1e6) / requests,
    };
  } finally {
    await Promise.all(gateways.map(({ process }) => process.stop()));
    rmSync(scratchDir, { recursive: true, force: true });
  }
}

const seconds = (gateways: readonly TollgatePeer[]): number =>
  gateways.reduce((sum, { process }) => sum + process.cpuSeconds(), 0);

/** Splits the rate evenly; returns how many requests were served. */
async function load(gateways: readonly TollgatePeer[], durationMs: number): Promise<number> {
  const loads = gateways.map(({ target }) =>
    openLoop({
      origin: target.origin,
      request: chatRequest(target, chatBody("bench-json-1k")),
      ratePerSecond: RATE_PER_SECOND / gateways.length,
      durationMs,
    }),
  );
  const results = await Promise.all(loads);
  const errors = results.reduce((sum, result) => sum + result.errors, 0);
  if (errors > 0) throw new Error(`replicas: ${errors} replies failed`);
  return results.reduce((sum, result) => sum + result.requests, 0);
}
