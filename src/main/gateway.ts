// Builds every room, listens, drains; the only file that knows them all. Start order: store before ledger, ledger before
// releases, everything before the port opens; stop order is the reverse.
import type { Config } from "../config/config.ts";
import { isOverloaded } from "../domain/overloaded.ts";
import { CallScopes } from "../gateway/call-scope.ts";
import { chatCompletions } from "../gateway/formats/chat-completions/chat-completions.ts";
import type { Format } from "../gateway/formats/format.ts";
import { FORMATS } from "../gateway/formats/formats.ts";
import { receiptSigner } from "../gateway/signed-receipt.ts";
import { AccessLog } from "../http/access-log.ts";
import { ClientAddress } from "../http/client-address.ts";
import { Cors } from "../http/cors.ts";
import { dashboardRoutes } from "../http/dashboard.ts";
import { Router } from "../http/router.ts";
import { type Listening, listen, type ServerOptions } from "../http/server.ts";
import { EventStreams } from "../http/sse.ts";
import { surface } from "../http/surface.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import type { Jobs } from "../lib/jobs.ts";
import { createLog, type Log, written } from "../lib/log.ts";
import { Metrics } from "../lib/metrics.ts";
import { openLimits } from "../limits/limits.ts";
import { managementKeyUse } from "../operator/management-key-use.ts";
import { RequestLog } from "../operator/request-log.ts";
import { stopCounting } from "../pricing/tokens.ts";
import { lostWhileStarting } from "../store/postgres-error.ts";
import { adminHandler } from "./admin.ts";
import { completePorts } from "./complete.ts";
import { dashboardApi, firstRunLink } from "./dashboard-api.ts";
import { dashboardAssets } from "./dashboard.ts";
import { drain } from "./drain.ts";
import { firstStart } from "./first-start.ts";
import { jobsOn } from "./jobs.ts";
import { writeOperatorFile } from "./operator-file.ts";
import { tellOutages } from "./outages.ts";
import { openProviders, type Providers } from "./providers.ts";
import { openReleases, type Releases } from "./releases.ts";
import { httpRoutes, type RoutePorts } from "./routes.ts";
import { openServices, type Services } from "./services.ts";
import { type OpenedStore, openStore } from "./store.ts";
import type { Worker } from "./workers.ts";

/** Above every limit of ours, whose refusals can be read; beyond it Bun answers a bare 413 (hardening.md §1). */
const PARSER_BODY_BYTES = 64 * 1024 * 1024;

export interface Running {
  /** `http://host:port`. */
  url: string;
  /** Of the demo organization; only on the first start of an empty store. */
  demoKey: string | null;
  /** Makes the first account, once, within an hour; null when there is one. */
  signInLink: string | null;
  ledger: Ledger;
  /** Payments and alerts. */
  services: Services;
  /** Stops admission, lets answers finish, closes the store. */
  stop(): Promise<void>;
}

export interface StartPorts {
  clock?: Clock;
  log?: Log;
  jobs?: Jobs;
  /** The surfaces that it answers on; all of them where this is left out. */
  formats?: readonly Format[];
  /** The configured store where this is left out. */
  openStore?: typeof openStore;
  /** One of several processes on one port; only the first one tells the operator where they are. */
  worker?: Worker | null;
  /** Gives the start up between two of its steps; it then throws the signal's reason. */
  signal?: AbortSignal;
  /** The port is open, before `start` ends: from here on somebody may be waiting for an answer. */
  onListening?: () => void;
}

/** What a start is given, each with what it is where nobody says. */
type Process = Pick<StartPorts, "signal" | "onListening"> &
  Required<Pick<StartPorts, "clock" | "log" | "jobs" | "formats" | "openStore" | "worker">>;

/** Starts a gateway in this process. Throws with a sentence for the operator when it cannot. */
export async function start(config: Config, ports: StartPorts = {}): Promise<Running> {
  const log = ports.log ?? createLog(config.log.level);
  const given: Process = {
    ...ports,
    log,
    clock: ports.clock ?? systemClock,
    jobs: ports.jobs ?? jobsOn(log),
    formats: ports.formats ?? FORMATS,
    openStore: ports.openStore ?? openStore,
    worker: ports.worker ?? null,
  };
  ignoreProxies();
  const store = await given.openStore(config, { ...given, clock: ports.clock });
  try {
    return await startOn(store, config, given);
  } catch (error) {
    const trouble = store.ledger.trouble();
    await closeStore(store);
    throw config.databaseUrl !== null && isOverloaded(error)
      ? lostWhileStarting(error, config.databaseUrl, trouble)
      : error;
  }
}

async function startOn(store: OpenedStore, config: Config, given: Process): Promise<Running> {
  const { ledger, sql } = store;
  const { clock, jobs, worker, signal } = given;
  signal?.throwIfAborted();
  const providers = await openProviders(config.providers);
  let close = (): Promise<void> => providers.stop();
  try {
    const releases = await openReleases({
      config,
      ledger,
      sql,
      clock,
      targets: providers.targets,
      shared: store.look !== null,
      jobs,
    });
    close = async () => {
      releases.stop();
      await providers.stop();
    };
    signal?.throwIfAborted();
    const gateway = await openPort(config, { ...given, store, providers, releases });
    close = () => gateway.stop(); // or it would answer for ever, without a store
    given.onListening?.();
    // Its key is shown once, in the banner: a start that ends at a port that is taken makes none.
    const demoKey = config.trust === null ? await firstStart(ledger) : null;
    const url = addressOf(config, gateway.server.port);
    if (worker !== "other") await writeOperatorFile(ledger, { dataDir: config.dataDir, url });
    releases.health.start(jobs);
    const signInLink =
      worker === "other"
        ? null
        : await firstRunLink(config, { url: config.publicUrl ?? url, dataKey: store.dataKey });
    const stop = async (): Promise<void> => {
      await gateway.stop();
      await closeStore(store);
    };
    return { url, demoKey, signInLink, ledger, services: gateway.services, stop };
  } catch (error) {
    await close();
    throw error;
  }
}

async function closeStore(store: OpenedStore): Promise<void> {
  await store.ledger.close();
  await store.close();
}

interface Rooms extends Process {
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
async function openPort(config: Config, rooms: Rooms): Promise<Answering> {
  const { clock, log, jobs, releases, providers, store } = rooms;
  const { ledger, sql, dataKey } = store;
  const address = (): string => addressOf(config, server.port);
  const url = (): string => config.publicUrl ?? address();
  let draining = false;

  // What is counted and told.
  /** A store that is away is no bug of whoever asked it: `tellOutages` has one line for all of them. */
  const failed = (error: unknown, id?: string): void => {
    if (!isOverloaded(error)) log.error({ id, err: error }, "a request failed inside the gateway");
  };
  const outages = tellOutages({ ledger, clock: systemClock, log, jobs });
  const streams = new EventStreams(clock, { failed, jobs });
  const metrics = new Metrics({
    openStreams: () => streams.size,
    failedJobs: () => jobs.failures,
    quarantined: () => ledger.pulse().quarantined,
  });
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
    complete: completePorts(config, { ...rooms, limits: limits.calls, callScopes, metrics, failed }),
    receipts: receiptSigner(dataKey),
    admin: adminHandler({
      ledger,
      sql,
      clock,
      uploads,
      managementKeys,
      publisher: releases.publisher,
      payments: services.paymentService,
      flushRequestLog,
      people: () => api.people(),
      url,
    }),
    payments: services.payments,
    uploads,
    bodyBytes: config.limits.bodyBytes,
    streamIdleMs: config.limits.streamIdleMs,
    draining: () => draining,
    noteHeldNothing: (entry) => requestLog.note(entry),
    heldNothing: async (requestId) => {
      await flushRequestLog();
      // Loaded when it is asked for: what readers compile their queries with is large.
      const { heldNothing } = await import("../reporting/held-nothing.ts");
      return await heldNothing(sql, requestId);
    },
    overloaded: () => metrics.overloaded(),
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
    chat: surface(routePorts, chatCompletions),
    preview: routePorts.complete,
    startedAtMs: clock.nowMs(),
    streamsOpen: () => streams.size,
    flushRequestLog,
    forgotten: () => requestLog.forgotten,
    overloadRefusals: () => metrics.overloadRefusals,
    failedJobs: () => jobs.failures,
    paymentService: services.paymentService,
    alertService: services.alertService,
  });

  // The port.
  const close = async (): Promise<void> => {
    await services.stop();
    await api.stop();
    await requestLog.stop();
    releases.stop();
    await providers.stop();
    stopCounting();
    await outages.stop();
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
      router: new Router(routes, () => `${url()}/v1`),
      cors: new Cors(config.cors.origins),
      access: new AccessLog(log, clock, metrics),
      clients: new ClientAddress(config.server.trustedProxies),
      headerTimeoutMs: config.limits.headerTimeoutMs,
      maxBodyBytes: PARSER_BODY_BYTES,
    },
    close,
  );
  const stop = async (): Promise<void> => {
    draining = true;
    await drain(server, { graceMs: config.limits.stopGraceMs, callScopes, streams, ledger });
    await close();
  };
  return { server, services, stop };
}

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
const addressOf = ({ listen: { host } }: Config, port: number): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`;

/** Bun's fetch obeys proxy variables by itself; providers are reached directly or not at all (S13). */
function ignoreProxies(): void {
  for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"])
    delete process.env[name];
}
