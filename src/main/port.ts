// Connects the rooms and opens the port: the doors, what they share, and what is counted and told of them. Stop order is the
// reverse.
import type { Config } from "../config/config.ts";
import { CallScopes } from "../gateway/call-scope.ts";
import type { Format } from "../gateway/formats/format.ts";
import { receiptSigner } from "../gateway/signed-receipt.ts";
import { AccessLog } from "../http/access-log.ts";
import { ClientAddress } from "../http/client-address.ts";
import { Cors } from "../http/cors.ts";
import { dashboardRoutes } from "../http/dashboard.ts";
import { Router } from "../http/router.ts";
import { type Listening, listen, type ServerOptions } from "../http/server.ts";
import { surface } from "../http/surface.ts";
import type { Clock } from "../lib/clock.ts";
import type { Jobs } from "../lib/jobs.ts";
import { type Log, written } from "../lib/log.ts";
import { rateDefaultsOf } from "../limits/caller-limits.ts";
import { openLimits } from "../limits/limits.ts";
import { managementKeyUse } from "../operator/management-key-use.ts";
import { RequestLog } from "../operator/request-log.ts";
import { adminHandler } from "./admin.ts";
import { completePorts } from "./complete.ts";
import { dashboardApi } from "./dashboard-api.ts";
import type { PeopleTerms } from "./dashboard-rooms.ts";
import { dashboardAssets } from "./dashboard.ts";
import { drain } from "./drain.ts";
import type { Providers } from "./providers.ts";
import type { Releases } from "./releases.ts";
import { httpRoutes, type RoutePorts } from "./routes.ts";
import { openServices, type Services } from "./services.ts";
import type { OpenedStore } from "./store.ts";
import { openWatching } from "./watching.ts";
import type { Worker } from "./workers.ts";

/** Above every limit of ours, whose refusals can be read; beyond it Bun answers a bare 413 (hardening.md §1). */
const PARSER_BODY_BYTES = 64 * 1024 * 1024;

/** What it is made of. */
interface Rooms {
  clock: Clock;
  log: Log;
  jobs: Jobs;
  formats: readonly Format[];
  worker: Worker | null;
  peopleTerms: PeopleTerms;
  hurry?: AbortSignal;
  store: OpenedStore;
  providers: Providers;
  releases: Releases;
}

/** A gateway that answers. */
interface Answering {
  server: Listening;
  services: Services;
  /** Drains, and closes every room but the store. */
  stop(): Promise<void>;
}

/** Connects the rooms and opens the port. Throws `ListenFailure`, with every room closed again, where it cannot. */
export async function openPort(config: Config, rooms: Rooms): Promise<Answering> {
  const { clock, log, jobs, releases, providers, store } = rooms;
  const { ledger, sql, dataKey } = store;
  const address = (): string => addressOf(config, server.port);
  const url = (): string => config.publicUrl ?? address();
  /** Told to stop: `/readyz` is off, and until it drains everything is served as before. */
  let leaving = false;
  let draining = false;

  const watching = openWatching(config, { clock, log, jobs, releases, store });
  const { failed, streams, metrics, tracing, resolved } = watching;
  const requestLog = new RequestLog(sql, clock, jobs);
  const flushRequestLog = (): Promise<void> => requestLog.flush();

  // What every door shares.
  const limits = openLimits(config.limits, { clock, refused: (limit) => metrics.limitRefused(limit) });
  const { uploads } = limits;
  const callScopes = new CallScopes();
  const services = openServices(config, {
    sql,
    dataKey,
    routeTable: releases.routeTable,
    ledger,
    clock,
    address,
    jobs,
    people: () => api.people(),
  });
  const managementKeys = managementKeyUse({ ledger, people: () => api.people(), sql, clock, failed });

  // The doors: `/v1` and the operator API, then the dashboard.
  const routePorts: RoutePorts = {
    formats: rooms.formats,
    ledger,
    managementKeys,
    clock,
    streams,
    metrics,
    routeTable: releases.routeTable,
    complete: completePorts(config, {
      ...rooms,
      limits: limits.calls,
      answers: limits.answers,
      callScopes,
      metrics,
      failed,
      resolved,
    }),
    receipts: receiptSigner(dataKey),
    admin: adminHandler({
      ledger,
      sql,
      clock,
      uploads,
      managementKeys,
      publisher: releases.publisher,
      receipts: receiptSigner(dataKey),
      rateDefaults: rateDefaultsOf(config.limits),
      payments: services.paymentService,
      flushRequestLog,
      people: () => api.people(),
      url,
    }),
    payments: services.payments,
    uploads,
    bodyBytes: config.limits.bodyBytes,
    streamIdleMs: config.limits.streamIdleMs,
    leaving: () => leaving,
    draining: () => draining,
    noteHeldNothing: (entry) => requestLog.note(entry),
    heldNothing: async (requestId) => {
      await flushRequestLog();
      // Loaded when it is asked for: what readers compile their queries with is large.
      const { heldNothing } = await import("../reporting/held-nothing.ts");
      return await heldNothing(sql, requestId);
    },
    overloaded: () => metrics.overloaded(),
    refused: (code) => metrics.refused(code),
    tracing,
  };
  const api = dashboardApi(config, {
    ledger,
    sql,
    dataKey,
    clock,
    publisher: releases.publisher,
    health: releases.health,
    breakers: releases.breakers,
    address,
    uploads,
    answerOn: (format) => surface(routePorts, format),
    preview: routePorts.complete,
    startedAtMs: clock.nowMs(),
    streamsOpen: () => streams.size,
    flushRequestLog,
    forgotten: () => requestLog.forgotten,
    overloadRefusals: () => metrics.overloadRefusals,
    failedJobs: () => jobs.failures,
    paymentService: services.paymentService,
    alertService: services.alertService,
    sendMail: services.sendMail,
    peopleTerms: rooms.peopleTerms,
  });

  // The port.
  const access = new AccessLog(log, clock, metrics);
  const close = async (): Promise<void> => {
    await services.stop();
    await api.stop();
    await requestLog.stop();
    releases.stop();
    await providers.stop();
    await watching.stop();
    access.close();
    await written(log);
  };
  const routes = [
    ...httpRoutes(routePorts),
    ...api.routes,
    ...dashboardRoutes({ assets: dashboardAssets(config.dataDir) }),
  ];
  const server: Listening = await listenOrClose(
    {
      ...config.listen,
      share: rooms.worker,
      clock,
      failed,
      refused: (code) => metrics.refused(code),
      router: new Router(routes, () => `${url()}/v1`),
      cors: new Cors(config.cors.origins, rooms.formats),
      access,
      clients: new ClientAddress(config.server.trustedProxies),
      headerTimeoutMs: config.limits.headerTimeoutMs,
      keepAliveMs: config.limits.keepAliveMs,
      maxBodyBytes: PARSER_BODY_BYTES,
    },
    close,
  );
  const stop = async (): Promise<void> => {
    leaving = true;
    const { drainDelayMs, stopGraceMs: graceMs } = config.limits;
    const running = callScopes.size;
    log.info({ running, within_ms: drainDelayMs + graceMs }, "told to stop: answers that run may finish");
    const hurried = abortOf(rooms.hurry).then(() =>
      log.warn({ running: callScopes.size }, "told again: answers that run are cut"),
    );
    await Promise.race([Bun.sleep(drainDelayMs), hurried]);
    draining = true;
    await drain(server, { graceMs, hurried, callScopes, streams, ledger });
    await close();
  };
  return { server, services, stop };
}

/** Resolves when it is aborted; never without one. */
const abortOf = (signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) resolve();
    signal?.addEventListener("abort", () => resolve(), { once: true });
  });

/** The open port; where there is none the rooms close, whose rounds would keep the process. */
async function listenOrClose(options: ServerOptions, close: () => Promise<void>): Promise<Listening> {
  try {
    return listen(options);
  } catch (error) {
    await close();
    throw error;
  }
}

/** Where this process answers. */
export const addressOf = ({ listen: { host } }: Config, port: number): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
