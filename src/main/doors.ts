// The doors of a gateway, and what they share: `/v1`, the operator API of management keys, the dashboard with
// its API. They respond as soon as the port is open (`port.ts`).
import type { HeldNothingJson } from "../api/shapes/requests.ts";
import type { Config } from "../config/config.ts";
import type { CallScopes } from "../gateway/call-scope.ts";
import type { Format } from "../gateway/formats/format.ts";
import { receiptSigner } from "../gateway/signed-receipt.ts";
import { formerReceiptKeys } from "../registry/receipt-keys.ts";
import { dashboardRoutes } from "../http/dashboard.ts";
import { Router } from "../http/router.ts";
import { surface } from "../http/surface.ts";
import type { Clock } from "../lib/clock.ts";
import type { Jobs } from "../lib/jobs.ts";
import type { Log } from "../lib/log.ts";
import { callsWithDescriptors, openFilesMax } from "../lib/shortage.ts";
import { rateDefaultsOf } from "../limits/caller-limits.ts";
import { type Limits, openLimits } from "../limits/limits.ts";
import { managementKeyUse } from "../operator/management-key-use.ts";
import { RequestLog } from "../operator/request-log.ts";
import type { People } from "../people/people.ts";
import { type ReadingTurns, readingInTurns } from "../store/reading-turns.ts";
import type { Sql } from "../store/sql.ts";
import { adminHandler } from "./admin.ts";
import { completePorts } from "./complete.ts";
import { dashboardApi } from "./dashboard-api.ts";
import { type PeopleLines, peopleLines } from "./people-lines.ts";
import type { PeopleRooms, PeopleTerms } from "./dashboard-rooms.ts";
import { dashboardAssets } from "./dashboard.ts";
import type { Phase } from "./drain.ts";
import type { Providers } from "./providers.ts";
import type { Releases } from "./releases.ts";
import { httpRoutes, type RoutePorts } from "./routes.ts";
import { openServices, type Services } from "./services.ts";
import type { OpenedStore } from "./store.ts";
import type { Watching } from "./watching.ts";

export interface Doors {
  router: Router;
  services: Services;
  /** Closes what was opened for the doors; the rooms passed in stay open. */
  stop(): Promise<void>;
}

export interface DoorsOn {
  clock: Clock;
  log: Log;
  jobs: Jobs;
  formats: readonly Format[];
  peopleTerms: PeopleTerms;
  store: OpenedStore;
  providers: Providers;
  releases: Releases;
  watching: Watching;
  callScopes: CallScopes;
  /** The address of this process; known once the port is open. */
  address(this: void): string;
  phase(this: void): Phase;
  /** Aborts at the phase `draining`. */
  draining: AbortSignal;
}

/** Shared by several doors. */
interface Shared {
  limits: Limits;
  requestLog: RequestLog;
  services: Services;
  /** For people and operators' scripts, at both doors. */
  reading: ReadingTurns;
  /** Opened on first use. */
  people(this: void): Promise<People>;
  lines: PeopleLines;
}

/** Opens no port. Background work of the rooms begins here, and ends with `stop`. */
export function openDoors(config: Config, on: DoorsOn): Doors {
  const { clock, jobs, releases, watching, address } = on;
  const { ledger, sql, dataKey } = on.store;
  const people = (): Promise<People> => dashboard.people();
  const maxConcurrent = callsThatFit(config.limits.maxConcurrent, on.log);
  const limits = openLimits(
    { ...config.limits, maxConcurrent },
    {
      clock,
      refused: (limit) => watching.metrics.limitRefused(limit),
    },
  );
  const requestLog = new RequestLog(sql, clock, jobs);
  const { routeTable } = releases;
  const lines = peopleLines(config, { sql, clock, jobs });
  const services = openServices(config, { sql, dataKey, routeTable, ledger, clock, address, jobs, people });
  const reading = readingInTurns(on.store.reading());
  const shared = { limits, requestLog, services, reading, people, lines };
  const ports = routePorts(config, on, shared);
  const dashboard = dashboardApi(config, peopleRooms(on, shared, ports));
  const routes = [
    ...httpRoutes(ports),
    ...dashboard.routes,
    ...dashboardRoutes({ assets: dashboardAssets(config.dataDir) }),
  ];
  return {
    router: new Router(routes, () => `${config.publicUrl ?? address()}/v1`),
    services,
    stop: async () => {
      await services.stop();
      await reading.stop();
      await dashboard.stop();
      await lines.stop();
      await requestLog.stop();
    },
  };
}

/** `limits.max_concurrent`, or fewer: an admitted call must find the descriptors that it needs. */
function callsThatFit(maxConcurrent: number, log: Log): number {
  const fit = callsWithDescriptors();
  if (fit === null || fit >= maxConcurrent) return maxConcurrent;
  log.warn(
    { open_files: openFilesMax(), max_concurrent: maxConcurrent, runs_at_once: fit },
    "fewer calls than limits.max_concurrent can run concurrently: this process cannot open enough files; raise its limit (ulimit -n)",
  );
  return fit;
}

/** For `/v1` and the operator API. */
function routePorts(
  config: Config,
  on: DoorsOn,
  { limits, requestLog, services, reading, people }: Shared,
): RoutePorts {
  const { clock, formats, releases, address, phase } = on;
  const { failed, resolved, streams, metrics, tracing } = on.watching;
  const { ledger, sql, dataKey } = on.store;
  const { uploads } = limits;
  const managementKeys = managementKeyUse({ ledger, people, sql, clock, failed });
  const receipts = receiptSigner(dataKey, () => ledger.read(formerReceiptKeys));
  return {
    formats,
    ledger,
    managementKeys,
    clock,
    streams,
    metrics,
    routeTable: releases.routeTable,
    complete: completePorts(config, {
      ...on,
      limits: limits.calls,
      answers: limits.answers,
      prompts: limits.prompts,
      metrics,
      failed,
      resolved,
    }),
    receipts,
    admin: adminHandler({
      ledger,
      sql,
      reading,
      clock,
      uploads,
      managementKeys,
      publisher: releases.publisher,
      receipts,
      rateDefaults: rateDefaultsOf(config.limits),
      payments: services.paymentService,
      flushRequestLog: () => requestLog.flush(),
      people,
      sendMail: services.sendMail,
      alertService: services.alertService,
      url: () => config.publicUrl ?? address(),
    }),
    payments: services.payments,
    uploads,
    bodyBytes: config.limits.bodyBytes,
    streamIdleMs: config.limits.streamIdleMs,
    leaving: () => phase() !== "serving",
    draining: () => phase() === "draining",
    noteHeldNothing: (entry) => requestLog.note(entry),
    heldNothing: (requestId) => readHeldNothing(requestLog, sql, requestId),
    overloaded: () => metrics.overloaded(),
    refused: (code) => metrics.refused(code),
    tracing,
  };
}

/** For the dashboard's API; `answerOn` and `preview` are those of `/v1`. */
function peopleRooms(
  on: DoorsOn,
  { limits, requestLog, services, reading, lines }: Shared,
  ports: RoutePorts,
): PeopleRooms {
  const { clock, jobs, releases, peopleTerms, address } = on;
  const { streams, metrics } = on.watching;
  const { ledger, sql, dataKey } = on.store;
  return {
    ledger,
    sql,
    reading,
    dataKey,
    clock,
    publisher: releases.publisher,
    health: releases.health,
    breakers: releases.breakers,
    address,
    uploads: limits.uploads,
    answerOn: (format) => surface(ports, format),
    preview: ports.complete,
    startedAtMs: clock.nowMs(),
    streamsOpen: () => streams.size,
    draining: on.draining,
    flushRequestLog: () => requestLog.flush(),
    forgotten: () => requestLog.forgotten,
    overloadRefusals: () => metrics.overloadRefusals,
    failedJobs: () => jobs.failures,
    paymentService: services.paymentService,
    alertService: services.alertService,
    sendMail: services.sendMail,
    peopleTerms,
    lines,
  };
}

/** The request log's entry of a request that held nothing. */
async function readHeldNothing(
  requestLog: RequestLog,
  sql: Sql,
  requestId: string,
): Promise<HeldNothingJson | null> {
  await requestLog.flush();
  // Loaded on demand: the query compiler of readers is large.
  const { heldNothing } = await import("../reporting/held-nothing.ts");
  return await heldNothing(sql, requestId);
}
