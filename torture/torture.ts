// One run: plan, world, play, heal, judge. Returns a report; the world is removed afterwards, unless something was
// broken and the caller wants to look at it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { judge } from "./checks.ts";
import { Driver } from "./driver.ts";
import { type BalanceJson, errorCode, Evidence, type Found, type Violation } from "./evidence.ts";
import { measureFairness } from "./fairness.ts";
import type { Exchange, History } from "./history.ts";
import { audit, finalBalances, heal } from "./heal.ts";
import { printFound } from "./found.ts";
import { makePlan } from "./make-plan.ts";
import { type Mix, REPLICATED } from "./mix.ts";
import type { PlannedRequest, StandIn } from "./plan.ts";
import { type Ground, openWorld, type World } from "./world.ts";

export interface Run extends Ground {
  seed: number;
  ms: number;
  mix?: Mix;
  /** How long the healed gateways may take to finish everything. */
  quietWithinMs?: number;
  /** True if a victim's calls are timed beside a flood after the healing; default false. */
  fairness?: boolean;
  /** Keeps the directory of a run that found a violation. */
  keep?: boolean;
  progress?(playedMs: number, world: World): void;
}

export interface Report {
  seed: number;
  ms: number;
  /** Null on an embedded store. */
  database: NonNullable<Ground["database"]> | null;
  figures: Record<string, number>;
  /** By check. */
  violations: Map<string, Violation[]>;
  /** Holds the store, the settings and the logs; null if removed. */
  directory: string | null;
}

export async function torture(run: Run): Promise<Report> {
  const { seed, ms, database, mix = database && REPLICATED } = run;
  const { gateways = 1, standby = false } = database ?? {};
  const plan = makePlan({ seed, ms, gateways, standby, ...(mix && { mix }) });
  const world = await openWorld(plan, run);
  let broken = true;
  try {
    await new Driver(world, (playedMs) => run.progress?.(playedMs, world)).play(plan);
    await heal(world, run.quietWithinMs).catch((error: unknown) => {
      world.history.accidents.push({ what: String(error), atMs: Date.now() });
    });
    const fairness = run.fairness === true ? await measureFairness(world) : [];
    const found: Found = {
      plan,
      history: world.history,
      audit: await audit(world).catch((error: unknown) => ({
        ok: false,
        checked: {},
        violations: [String(error)],
      })),
      balances: await finalBalances(world).catch((error: unknown) => {
        world.history.accidents.push({ what: String(error), atMs: Date.now() });
        return new Map<number, BalanceJson>();
      }),
      bill: await world.simulator.bill(),
      rows: await world.store.requests(),
      fairness,
    };
    const violations = judge(new Evidence(found));
    broken = [...violations.values()].some((list) => list.length > 0);
    const directory = broken && run.keep === true ? world.directory : null;
    if (directory !== null) writeFileSync(join(directory, "found.json"), printFound(found));
    return { seed, ms, database: database ?? null, figures: figuresOf(found), violations, directory };
  } finally {
    await world.close({ keep: broken && run.keep === true });
  }
}

export const countViolations = ({ violations }: Report): number =>
  [...violations.values()].reduce((sum, list) => sum + list.length, 0);

/** Error answers by code, including broken streams. */
function refusalsIn(exchanges: readonly Exchange[]): Record<string, number> {
  const codes = exchanges.map(errorCode).filter((code) => code !== null);
  const counts = [...Map.groupBy(codes, (code) => code)].map(
    ([code, list]) => [`error ${code}`, list.length] as const,
  );
  return Object.fromEntries(counts.sort(([a], [b]) => a.localeCompare(b)));
}

/** Empty on an embedded store. */
function databaseStrokes({ strokes }: History): Record<string, number> {
  const names = {
    kill_database: "kills of the database",
    freeze_database: "freezes of the database",
    cut_connection: "connections to the database cut",
    promote_standby: "promotions of its standby",
  };
  return Object.fromEntries(
    Object.entries(names).flatMap(([stroke, name]) => {
      const count = strokes.get(stroke);
      return count === undefined ? [] : [[name, count]];
    }),
  );
}

function figuresOf({ plan, history, bill, rows }: Found): Record<string, number> {
  const kindOf = ({ key }: PlannedRequest): StandIn | undefined =>
    plan.customers[history.keys.get(key)?.customer ?? -1]?.kind;
  const { exchanges } = history;
  const count = (fits: (exchange: Exchange) => boolean): number => exchanges.filter(fits).length;
  const down = (what: string): number => history.downs.filter((span) => span.what === what).length;
  return {
    "requests sent": exchanges.length,
    "answered whole": count(({ status, ending }) => status === 200 && ending === "whole"),
    "of them on newer surfaces": count(
      ({ status, ending, request }) => status === 200 && ending === "whole" && request.surface !== "chat",
    ),
    "replayed or followed": count(({ headers }) => headers["idempotent-replayed"] === "true"),
    ...refusalsIn(exchanges),
    "clients that left": count(({ ending }) => ending === "left"),
    "connections cut": count(({ ending }) => ending === "cut"),
    admitted: rows.length,
    settled: rows.filter(({ state }) => state === "settled").length,
    released: rows.filter(({ state }) => state === "released").length,
    "released with their owner lost": rows.filter(({ errorCode }) => errorCode === "owner_lost").length,
    "calls on the provider's bill": bill.length,
    kills: down("killed"),
    "crash points hit": history.strokes.get("crash point hit") ?? 0,
    restarts: down("stopped"),
    "pauses of the gateway": history.strokes.get("pause") ?? 0,
    "pauses of the provider": history.strokes.get("pause_provider") ?? 0,
    "store locked": history.strokes.get("lock_store") ?? 0,
    ...databaseStrokes(history),
    "keys revoked": [...history.keys.values()].filter(({ revoked }) => revoked !== null).length,
    "keys paused, expired":
      [...history.keys.values()].reduce((sum, { pauses }) => sum + pauses.length, 0) +
      [...history.keys.values()].filter(({ expiresAtMs }) => expiresAtMs !== null).length,
    "routes closed, entitlements revoked": history.closings.length,
    "releases published": history.releases.length,
    "streams left in bulk": count(({ request }) => kindOf(request) === "crowd"),
    "prompts that flood the counters": count(({ request }) => request.ideographs > 0),
    "records rotten": history.rotten.size,
    "requests ended by an operator": history.quarantined.size,
    "audits during the run": history.auditsTaken,
  };
}
