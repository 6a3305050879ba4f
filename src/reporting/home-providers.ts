// The providers, worst first: the state of each provider's routes and since when, the failed calls, the time
// to the first token.
import { DAY_MS, HOUR_MS } from "../domain/durations.ts";
import type { z } from "zod";
import type * as homeShapes from "../api/shapes/home.ts";
import type { RouteState } from "../domain/release.ts";
import { printTimeOrNull } from "../domain/print.ts";
import type { RouteStanding } from "../releases/standing.ts";
import { from, rowsOf } from "../store/query.ts";
import { eachProvider } from "./labels.ts";
import { providerRows, type ProvidersPorts } from "./providers.ts";
import { sinceRequest } from "./request-time.ts";

type Row = z.output<typeof homeShapes.homeProviders>["data"][number];

/** From the last hour; more would not change the median. */
const TIMES_READ = 20_000;
/**
 * The order in which a provider's routes are reported: accidental outages before routes that an operator
 * disabled on purpose, which would hide them. Not the order of reasons within one route (interfaces.md §4).
 */
const STATES: readonly RouteState[] = ["unhealthy", "stale", "disabled", "live"];
/** Later than every known time; unlike infinity, its difference with itself is 0. */
const UNTOLD_MS = Number.MAX_SAFE_INTEGER;
const organizations = from.selectFrom("organization").select("org_id");

/** One row per configured provider; `served` is a share from 0 to 1, null without attempts. */
export async function providerMatrix(on: ProvidersPorts): Promise<Row[]> {
  const [rows, served, times] = [await providerRows(on), await servedOf(on), await timesOf(on)];
  const listed = on.listedRoutes();
  return rows
    .map(({ name, errors }): Row => {
      const routes = listed.filter(({ names }) => names?.provider === name);
      const failed = errors.reduce((sum, { attempts }) => sum + attempts, 0);
      const attempts = failed + (served.get(name) ?? 0);
      const [most] = errors.toSorted((a, b) => b.attempts - a.attempts);
      return {
        provider: name,
        ...standingOf(routes),
        attempts,
        failed,
        error: most?.class ?? null,
        served: attempts === 0 ? null : (attempts - failed) / attempts,
        first_part_ms_p50: median(times.get(name) ?? []),
      };
    })
    .toSorted((a, b) => badness(b) - badness(a) || (a.provider < b.provider ? -1 : 1));
}

/** The fields of a route that describe its state. */
type Standing = Pick<RouteStanding, "state" | "reason" | "sinceMs">;

/**
 * A provider's state, derived from its routes: partly live if only some are live. Reason and time are those
 * of the route reported first; among equal ones, the one that has been in that state longest.
 */
export function standingOf(
  routes: readonly Standing[],
): Pick<Row, "state" | "reason" | "since" | "routes" | "live_routes"> {
  const [worst] = routes.toSorted(
    (a, b) =>
      STATES.indexOf(a.state) - STATES.indexOf(b.state) ||
      (a.sinceMs ?? UNTOLD_MS) - (b.sinceMs ?? UNTOLD_MS),
  );
  const live = routes.filter(({ state }) => state === "live").length;
  return {
    state: 0 < live && live < routes.length ? "partly_live" : (worst?.state ?? "none"),
    reason: worst?.reason ?? null,
    since: printTimeOrNull(worst?.sinceMs ?? null),
    routes: routes.length,
    live_routes: live,
  };
}

/** Providers that serve nobody come first, then partly working ones, then by the share of failed calls. */
function badness({ state, routes, live_routes: live, served }: Row): number {
  if (routes === 0) return -1;
  return (live === 0 ? 4 : 0) + (state === "live" ? 0 : 2) + (served === null ? 0 : 1 - served);
}

async function servedOf(on: ProvidersPorts): Promise<Map<string, number>> {
  const query = from
    .selectFrom("request")
    .where("org_id", "in", organizations)
    .where("request_id", ">=", sinceRequest(on.clock.nowMs() - DAY_MS))
    .where("state", "=", "settled")
    .groupBy("release_digest")
    .select((eb) => ["release_digest", eb.fn.countAll<bigint>().as("requests")]);
  const rows = await rowsOf(on.sql, query);
  const counts = new Map<string, number>();
  await eachProvider(on.labels, rows, (provider, { requests }) =>
    counts.set(provider, (counts.get(provider) ?? 0) + Number(requests)),
  );
  return counts;
}

async function timesOf(on: ProvidersPorts): Promise<Map<string, number[]>> {
  const query = from
    .selectFrom("request")
    .where("org_id", "in", organizations)
    .where("request_id", ">=", sinceRequest(on.clock.nowMs() - HOUR_MS))
    .where("first_part_ms", "is not", null)
    .select((eb) => ["release_digest", eb.ref("first_part_ms").$notNull().as("ms")])
    .limit(TIMES_READ);
  const rows = await rowsOf(on.sql, query);
  const times = new Map<string, number[]>();
  await eachProvider(on.labels, rows, (provider, { ms }) => {
    const known = times.get(provider) ?? [];
    known.push(Number(ms));
    times.set(provider, known);
  });
  return times;
}

function median(times: readonly number[]): number | null {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}
