// Builds every room, listens, drains; the only file that knows them all. Start order: store before ledger, ledger before
// releases, everything before the port opens; stop order is the reverse.
import { createHmac } from "node:crypto";
import type { Config } from "../config/config.ts";
import { isOverloaded } from "../domain/overloaded.ts";
import type { Handler } from "../http/context.ts";
import { surface } from "../http/surface.ts";
import { chatCompletions } from "../gateway/formats/chat-completions/chat-completions.ts";
import { FORMATS } from "../gateway/formats/formats.ts";
import type { Format } from "../gateway/formats/format.ts";
import { AccessLog } from "../http/access-log.ts";
import { ClientAddress } from "../http/client-address.ts";
import { Cors } from "../http/cors.ts";
import { dashboardRoutes } from "../http/dashboard.ts";
import { Router } from "../http/router.ts";
import { type Listening, listen, type ServerOptions } from "../http/server.ts";
import { EventStreams } from "../http/sse.ts";
import { Uploads } from "../limits/uploads.ts";
import { RemoteInFlight } from "../gateway/remote-in-flight.ts";
import { Concurrency } from "../limits/concurrency.ts";
import { RunningHolds } from "../gateway/running-holds.ts";
import { InFlight } from "../gateway/in-flight.ts";
import { CallScopes } from "../gateway/call-scope.ts";
import { ProgressLog } from "../gateway/progress-log.ts";
import { Rate } from "../limits/rate.ts";
import { receiptSigner } from "../gateway/signed-receipt.ts";
import type { CompletePorts } from "../gateway/complete.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { jobsOn } from "./jobs.ts";
import type { Jobs } from "../lib/jobs.ts";
import { createLog, type Log } from "../lib/log.ts";
import { Metrics } from "../lib/metrics.ts";
import { dashboardAssets } from "./dashboard.ts";
import { firstStart } from "./first-start.ts";
import { writeOperatorFile } from "./operator-file.ts";
import { type Services, openServices } from "./services.ts";
import { tellOutages } from "./outages.ts";
import { openProviders, type Providers } from "./providers.ts";
import { openReleases, type Releases } from "./releases.ts";
import { reportsOf } from "./reports.ts";
import { type RoutePorts, httpRoutes } from "./routes.ts";
import type { Worker } from "./workers.ts";
import { dashboardApi, firstRunLink } from "./people.ts";
import { type OpenedStore, openStore } from "./store.ts";
import { RequestLog } from "../operator/request-log.ts";
import { managementKeyUse } from "../operator/management-key-use.ts";
import type { People } from "../people/people.ts";
import type { Sql } from "../store/sql.ts";
import { lostWhileStarting } from "../store/postgres-error.ts";
import { stopCounting } from "../pricing/tokens.ts";
import type { ManagementKeyDoor } from "../registry/management-keys.ts";

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
  /** One of several processes on one port; only the first one tells the operator where they are. */
  worker?: Worker | null;
  /** Gives the start up between two of its steps; it then throws the signal's reason. */
  signal?: AbortSignal;
  /** The port is open, before `start` ends: from here on somebody may be waiting for an answer. */
  onListening?: () => void;
}

/** Starts a gateway in this process. Throws with a sentence for the operator when it cannot. */
export async function start(config: Config, ports: StartPorts = {}): Promise<Running> {
  const clock = ports.clock ?? systemClock;
  const log = ports.log ?? createLog(config.log.level);
  const jobs = ports.jobs ?? jobsOn(log);
  ignoreProxies();
  const formats = ports.formats ?? FORMATS;
  const store = await openStore(config, { clock: ports.clock, jobs, formats });
  try {
    return await startOn(store, config, {
      ...ports,
      clock,
      log,
      jobs,
      formats,
      worker: ports.worker ?? null,
    });
  } catch (error) {
    const trouble = store.ledger.trouble();
    await closeStore(store);
    throw config.databaseUrl !== null && isOverloaded(error)
      ? lostWhileStarting(error, config.databaseUrl, trouble)
      : error;
  }
}

async function startOn(
  store: OpenedStore,
  config: Config,
  {
    clock,
    log,
    jobs,
    formats,
    worker,
    signal,
    onListening,
  }: StartPorts & { clock: Clock; log: Log; jobs: Jobs; formats: readonly Format[]; worker: Worker | null },
): Promise<Running> {
  const { ledger } = store;
  signal?.throwIfAborted();
  const providers = await openProviders(config.providers);
  let shut = (): Promise<void> => providers.stop();
  try {
    const releases = await openReleases({
      config,
      ledger,
      sql: store.sql,
      clock,
      targets: providers.targets,
      shared: store.look !== null,
      jobs,
    });
    shut = async () => {
      releases.stop();
      await providers.stop();
    };
    signal?.throwIfAborted();
    const house = await wire(config, {
      clock,
      log,
      jobs,
      store,
      ledger,
      providers,
      releases,
      worker,
      formats,
    });
    shut = () => house.stop(); // or it would answer for ever, without a store
    onListening?.();
    // Its key is shown once, in the banner: a start that ends at a port that is taken makes none.
    const demoKey = config.trust === null ? await firstStart(ledger) : null;
    const url = addressOf(config, house.server.port);
    if (worker !== "other") await writeOperatorFile(ledger, { dataDir: config.dataDir, url });
    releases.health.start(jobs);
    const signInLink =
      worker === "other"
        ? null
        : await firstRunLink(config, { url: config.publicUrl ?? url, dataKey: store.dataKey });
    const stop = async (): Promise<void> => {
      await house.stop();
      await closeStore(store);
    };
    return { url, demoKey, signInLink, ledger, services: house.services, stop };
  } catch (error) {
    await shut();
    throw error;
  }
}

async function closeStore(store: OpenedStore): Promise<void> {
  await store.ledger.close();
  await store.close();
}

interface Rooms {
  formats: readonly Format[];
  clock: Clock;
  log: Log;
  jobs: Jobs;
  store: OpenedStore;
  ledger: Ledger;
  providers: Providers;
  releases: Releases;
  worker: Worker | null;
}

/** Connects the rooms and opens the port. Throws `ListenFailure`, with every room closed again, where it cannot. */
async function wire(
  config: Config,
  rooms: Rooms,
): Promise<{ server: Listening; services: Services; stop(): Promise<void> }> {
  const { clock, log, jobs, ledger, releases, providers, store } = rooms;
  let draining = false;
  /** A store that is away is no bug of whoever asked it: `tellOutages` has one line for all of them. */
  const failed = (error: unknown, id?: string): void => {
    if (!isOverloaded(error)) log.error({ id, err: error }, "a request failed inside the gateway");
  };
  const outages = tellOutages({ ledger, clock: systemClock, log, jobs });
  const streams = new EventStreams(clock, { failed, jobs });
  const callScopes = new CallScopes();
  const metrics = new Metrics({
    openStreams: () => streams.size,
    failedJobs: () => jobs.failures,
    quarantined: () => ledger.pulse().quarantined,
  });
  const uploads = new Uploads({ totalBytes: config.limits.uploadBytes, bodyBytes: config.limits.bodyBytes });
  const baseUrl = `${config.publicUrl ?? `http://${config.listen.host}:${config.listen.port}`}/v1`;
  const address = (): string => addressOf(config, server.port);
  const { sql } = store;
  const { routeTable, publisher } = releases;
  const services = openServices(config, {
    sql,
    dataKey: store.dataKey,
    routeTable,
    ledger,
    clock,
    address,
    jobs,
  });
  const requestLog = new RequestLog(sql, clock, jobs);
  const managementKeys = managementKeyUse({ ledger, people: () => api.people(), sql, clock, failed });
  const routePorts: RoutePorts = {
    formats: rooms.formats,
    ledger,
    managementKeys,
    clock,
    streams,
    metrics,
    routeTable,
    complete: completePorts(config, { ...rooms, metrics, callScopes, failed }),
    receipts: receiptSigner(store.dataKey),
    admin: adminHandler({
      ledger,
      uploads,
      managementKeys,
      clock,
      releases,
      payments: services.paymentService,
      sql,
      flushRequestLog: () => requestLog.flush(),
      people: () => api.people(),
      url: () => config.publicUrl ?? address(),
    }),
    payments: services.payments,
    uploads,
    bodyBytes: config.limits.bodyBytes,
    streamIdleMs: config.limits.streamIdleMs,
    draining: () => draining,
    noteHeldNothing: (entry) => requestLog.note(entry),
    heldNothing: async (requestId) => {
      await requestLog.flush();
      // Loaded when it is asked for: what readers compile their queries with is large.
      const { heldNothing } = await import("../reporting/held-nothing.ts");
      return await heldNothing(sql, requestId);
    },
    overloaded: () => metrics.overloaded(),
  };
  const api = dashboardApi(config, {
    ledger,
    sql,
    dataKey: store.dataKey,
    clock,
    publisher,
    health: releases.health,
    breakers: releases.breakers,
    address,
    uploads,
    chat: surface(routePorts, chatCompletions),
    preview: routePorts.complete,
    startedAtMs: clock.nowMs(),
    streamsOpen: () => streams.size,
    flushRequestLog: () => requestLog.flush(),
    forgotten: () => requestLog.forgotten,
    overloadRefusals: () => metrics.overloadRefusals,
    failedJobs: () => jobs.failures,
    paymentService: services.paymentService,
    alertService: services.alertService,
  });
  const close = async (): Promise<void> => {
    await services.stop();
    await api.stop();
    await requestLog.stop();
    releases.stop();
    await providers.stop();
    stopCounting();
    await outages.stop();
    log.flush();
  };
  const server: Listening = await opened(
    {
      ...config.listen,
      share: rooms.worker,
      clock,
      failed,
      router: new Router(
        [
          ...httpRoutes(routePorts),
          ...api.routes,
          ...dashboardRoutes({ assets: dashboardAssets(config.dataDir) }),
        ],
        baseUrl,
      ),
      cors: new Cors(config.cors.origins),
      access: new AccessLog(log, clock, metrics),
      clients: new ClientAddress(config.server.trustedProxies),
      headerTimeoutMs: config.limits.headerTimeoutMs,
      maxBodyBytes: PARSER_BODY_BYTES,
    },
    close,
  );
  /** Open answers may finish for the grace time; then they are cut, and their holds end by evidence. */
  const stop = async (): Promise<void> => {
    draining = true;
    await within(config.limits.stopGraceMs, server.stop("drain"));
    void server.stop("cut");
    callScopes.cutAll();
    await settled(Promise.all([callScopes.idle(), streams.idle()]), ledger);
    await close();
  };
  return { server, services, stop };
}

/** The open port; where there is none the rooms close, whose rounds would keep the process. */
async function opened(options: ServerOptions, close: () => Promise<void>): Promise<Listening> {
  try {
    return listen(options);
  } catch (error) {
    await close();
    throw error;
  }
}

/** What a store that stays away has not taken by then is on disk, and the next start settles it. */
const STORE_AWAY_MS = 3_000;

/** Waits for the end of what was cut, unless the store stays away. */
async function settled(cut: Promise<unknown>, ledger: Pick<Ledger, "ready">): Promise<void> {
  let ended = false;
  const ending = cut.then(() => {
    ended = true;
  });
  for (let awayMs = 0; !ended && awayMs < STORE_AWAY_MS; awayMs = ledger.ready() ? 0 : awayMs + 100)
    await within(100, ending);
}

/** Where this process answers. */
const addressOf = ({ listen: { host } }: Config, port: number): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`;

function completePorts(
  config: Config,
  rooms: Rooms & { metrics: Metrics; callScopes: CallScopes; failed(error: unknown, id?: string): void },
): CompletePorts & { ledger: Ledger; routeTable: Releases["routeTable"] } {
  const { clock, log, ledger, providers, releases, metrics, store } = rooms;
  const { limits } = config;
  const inFlight = new InFlight();
  return {
    ledger,
    clock,
    routeTable: releases.routeTable,
    providers: providers.byName,
    rate: new Rate(limits.keyRequestsPerMinute, clock),
    holds: new RunningHolds(ledger),
    concurrency: new Concurrency({
      perKey: limits.keyConcurrent,
      perOrganization: limits.organizationConcurrent,
      inProcess: limits.maxConcurrent,
    }),
    inFlight,
    remoteInFlight:
      store.look === null ? null : new RemoteInFlight({ inFlight, look: store.look, jobs: rooms.jobs }),
    attachWaitMs: config.idempotency.attachWaitMs,
    refreshShelf: releases.refresh,
    showHeadroom: config.headers.headroom,
    timeouts: {
      answerMs: limits.answerTimeoutMs,
      streamMs: limits.requestTimeoutMs,
      firstPartMs: limits.firstPartWaitMs,
    },
    doubted: ({ requestId, attempt: { provider, route, doubts = [] }, told }) => {
      for (const reason of doubts) metrics.doubted(provider, reason);
      log.warn({ id: requestId, provider, route, doubts, told }, "a provider was not believed as it was");
    },
    report: reportsOf({ health: releases.health, metrics, log: rooms.log }),
    identify: (organizationId, value) =>
      createHmac("sha256", store.dataKey).update(`${organizationId}\n${value}`).digest("base64url"),
    callScopes: rooms.callScopes,
    progress: new ProgressLog(ledger, rooms.jobs),
    gaveUp: (error, requestId) => rooms.failed(error, requestId),
    abandoned: (requestId) => {
      metrics.abandoned();
      rooms.failed(new Error("the hold stayed open; recovery resolves it"), requestId);
    },
  };
}

/** The operator API, loaded on its first request: it is large, and most gateways never need it while they start. */
function adminHandler(on: {
  ledger: Ledger;
  uploads: Uploads;
  managementKeys: ManagementKeyDoor;
  clock: Clock;
  releases: Releases;
  payments: Services["paymentService"];
  sql: Sql;
  flushRequestLog(): Promise<void>;
  people(): Promise<People>;
  url(): string;
}): Handler {
  const { ledger, clock, releases } = on;
  const loaded = lazily(async () => {
    const [{ createAdminApp }, { createOperator }, { accounts }, { auditNotes }] = await Promise.all([
      import("../http/api/admin.ts"),
      import("../operator/operator.ts"),
      import("../operator/people.ts"),
      import("../registry/audit-notes.ts"),
    ]);
    const { note } = auditNotes(on.sql, clock);
    const people = accounts({ people: () => on.people(), url: () => on.url(), note });
    return createAdminApp({
      uploads: on.uploads,
      doors: { ledger, ...on.managementKeys },
      people: () => on.people(),
      rooms: {
        operator: createOperator({
          ...on,
          publisher: releases.publisher,
          people,
          persons: () => on.people(),
        }),
      },
    });
  });
  return async ({ request, requestId, receivedAtMs, address, setIdleTimeout }) => {
    const visitor = { headers: request.headers, address };
    return (await loaded())(request, { visitor, requestId, receivedAtMs, setIdleTimeout });
  };
}

function lazily<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | null = null;
  return () => (loaded ??= load());
}

/** Resolves when the work is done or the time is over. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

/** Bun's fetch obeys proxy variables by itself; providers are reached directly or not at all (S13). */
function ignoreProxies(): void {
  for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"])
    delete process.env[name];
}
