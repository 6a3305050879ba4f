// Builds every room, listens, drains; the only file that knows them all. Start order: store before ledger, ledger before
// releases, everything before the port opens; stop order is the reverse.
import { createHmac } from "node:crypto";
import type { Config } from "./config.ts";
import { isOverloaded } from "./contract/overloaded.ts";
import type { Handler } from "./http/context.ts";
import { chat } from "./http/chat.ts";
import { AccessLog } from "./http/access-log.ts";
import { ClientAddress } from "./http/client-address.ts";
import { Cors } from "./http/cors.ts";
import { dashboardRoutes } from "./http/dashboard.ts";
import { Router } from "./http/router.ts";
import { type Listening, listen } from "./http/server.ts";
import { EventStreams } from "./http/sse.ts";
import { Elsewhere } from "./gateway/elsewhere.ts";
import { InFlight } from "./gateway/in-flight.ts";
import { Lifelines } from "./gateway/lifeline.ts";
import { ProgressLog } from "./gateway/progress-log.ts";
import { Rate } from "./gateway/rate.ts";
import { receiptSigner } from "./gateway/signed-receipt.ts";
import type { CompletePorts } from "./gateway/complete.ts";
import type { Ledger } from "./ledger/ledger.ts";
import { type Clock, systemClock } from "./lib/clock.ts";
import { createLog, type Log } from "./lib/log.ts";
import { Metrics } from "./lib/metrics.ts";
import { banner } from "./main/banner.ts";
import { dashboardAssets } from "./main/dashboard.ts";
import { firstStart } from "./main/first-start.ts";
import { writeOperatorFile } from "./main/operator-file.ts";
import { type Desks, openDesks } from "./main/desks.ts";
import { tellOutages } from "./main/outages.ts";
import { openProviders, type Providers } from "./main/providers.ts";
import { openReleases, type Releases } from "./main/releases.ts";
import { type RoutePorts, routeTable } from "./main/routes.ts";
import { tellReady, type Worker, workerOf } from "./main/workers.ts";
import { dashboardApi, firstRunLink } from "./main/people.ts";
import { type OpenedStore, openStore } from "./main/store.ts";
import { Journal } from "./operator/journal.ts";
import { rememberingUse } from "./operator/management-key-use.ts";
import type { People } from "./contract/people.ts";
import type { Sql } from "./store/sql.ts";
import { lostWhileStarting } from "./store/postgres-error.ts";
import { stopCounting } from "./pricing/tokens.ts";

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
  desks: Desks;
  /** Stops admission, lets answers finish, closes the store. */
  stop(): Promise<void>;
}

export interface StartPorts {
  clock?: Clock;
  log?: Log;
  /** One of several processes on one port; only the first one tells the operator where they are. */
  worker?: Worker | null;
}

/** Starts a gateway in this process. Throws with a sentence for the operator when it cannot. */
export async function start(config: Config, ports: StartPorts = {}): Promise<Running> {
  const clock = ports.clock ?? systemClock;
  const log = ports.log ?? createLog(config.log.level);
  ignoreProxies();
  const store = await openStore(config, ports.clock);
  try {
    return await startOn(store, config, { clock, log, worker: ports.worker ?? null });
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
  { clock, log, worker }: { clock: Clock; log: Log; worker: Worker | null },
): Promise<Running> {
  const { ledger } = store;
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
      failed: (error) => {
        if (!isOverloaded(error)) log.error({ err: error }, "releases could not be renewed or followed");
      },
    });
    shut = async () => {
      releases.stop();
      await providers.stop();
    };
    const demoKey = config.trust === null ? await firstStart(ledger) : null;
    const house = furnish(config, { clock, log, store, ledger, providers, releases, worker });
    shut = () => house.stop(); // or it would answer for ever, without a store
    const url = addressOf(config, house.server.port);
    if (worker !== "other") await writeOperatorFile(ledger, { dataDir: config.dataDir, url });
    releases.health.start();
    const signInLink =
      worker === "other"
        ? null
        : await firstRunLink(config, { url: config.publicUrl ?? url, dataKey: store.dataKey });
    const stop = async (): Promise<void> => {
      await house.stop();
      await closeStore(store);
    };
    return { url, demoKey, signInLink, ledger, desks: house.desks, stop };
  } catch (error) {
    await shut();
    throw error;
  }
}

async function closeStore(store: OpenedStore): Promise<void> {
  await store.ledger.close();
  await store.close();
}

/** `start`, then the banner. SIGTERM and SIGINT stop it, from its first moment on: the port opens before `start` ends. */
export async function serve(config: Config): Promise<Running> {
  const worker = workerOf(process.env);
  const starting = start(config, { worker });
  let stopping = false;
  const stop = async (): Promise<void> => {
    if (stopping) return;
    stopping = true;
    const running = await starting.catch(() => null); // whoever called `serve` tells why
    if (running === null) return;
    await running.stop();
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void stop());
  const running = await starting;
  const baseUrl = `${config.publicUrl ?? running.url}/v1`;
  if (worker !== "other")
    process.stdout.write(
      banner({
        baseUrl,
        dashboard: { url: config.publicUrl ?? running.url, signInLink: running.signInLink },
        demo: running.demoKey === null ? null : { secret: running.demoKey, model: "base-preview-v1" },
      }),
    );
  tellReady(Number(new URL(running.url).port));
  return running;
}

interface Rooms {
  clock: Clock;
  log: Log;
  store: OpenedStore;
  ledger: Ledger;
  providers: Providers;
  releases: Releases;
  worker: Worker | null;
}

/** Connects the rooms and opens the port. */
function furnish(config: Config, rooms: Rooms): { server: Listening; desks: Desks; stop(): Promise<void> } {
  const { clock, log, ledger, releases, providers, store } = rooms;
  let draining = false;
  /** A store that is away is no bug of whoever asked it: `tellOutages` has one line for all of them. */
  const failed = (error: unknown, id?: string): void => {
    if (!isOverloaded(error)) log.error({ id, err: error }, "a request failed inside the gateway");
  };
  const outages = tellOutages({ ledger, clock: systemClock, log });
  const streams = new EventStreams(clock, { failed });
  const lifelines = new Lifelines();
  const metrics = new Metrics(() => streams.size);
  const baseUrl = `${config.publicUrl ?? `http://${config.listen.host}:${config.listen.port}`}/v1`;
  const address = (): string => addressOf(config, server.port);
  const { sql } = store;
  const { shelf, publisher } = releases;
  const desks = openDesks(config, { sql, dataKey: store.dataKey, shelf, ledger, clock, address, failed });
  const journal = new Journal(sql, clock, failed);
  const managementKeys = rememberingUse({ ledger, sql, clock, failed });
  const routePorts: RoutePorts = {
    ledger,
    managementKeys,
    clock,
    streams,
    metrics,
    shelf,
    complete: completePorts(config, { ...rooms, metrics, lifelines, failed }),
    receipts: receiptSigner(store.dataKey),
    admin: adminHandler({
      ledger,
      managementKeys,
      clock,
      releases,
      payments: desks.paymentDesk,
      sql,
      flushJournal: () => journal.flush(),
      people: () => api.people(),
      url: () => config.publicUrl ?? address(),
    }),
    payments: desks.payments,
    bodyBytes: config.limits.bodyBytes,
    streamIdleMs: config.limits.streamIdleMs,
    maxConcurrent: config.limits.maxConcurrent,
    draining: () => draining,
    heldNothing: (entry) => journal.note(entry),
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
    chat: chat(routePorts),
    preview: routePorts.complete,
    startedAtMs: clock.nowMs(),
    streamsOpen: () => streams.size,
    flushJournal: () => journal.flush(),
    forgotten: () => journal.forgotten,
    overloadRefusals: () => metrics.overloadRefusals,
    paymentDesk: desks.paymentDesk,
    alertDesk: desks.alertDesk,
  });
  const server: Listening = listen({
    ...config.listen,
    reusePort: rooms.worker !== null,
    clock,
    failed,
    router: new Router(
      [
        ...routeTable(routePorts),
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
  });
  /** Open answers may finish for the grace time; then they are cut, and their holds end by evidence. */
  const stop = async (): Promise<void> => {
    draining = true;
    await within(config.limits.stopGraceMs, server.stop("drain"));
    void server.stop("cut");
    lifelines.cutAll();
    await settled(Promise.all([lifelines.idle(), streams.idle()]), ledger);
    await desks.stop();
    await api.stop();
    await journal.stop();
    releases.stop();
    await providers.stop();
    stopCounting();
    await outages.stop();
    log.flush();
  };
  return { server, desks, stop };
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
  rooms: Rooms & { metrics: Metrics; lifelines: Lifelines; failed(error: unknown, id?: string): void },
): CompletePorts & { ledger: Ledger; shelf: Releases["shelf"] } {
  const { clock, ledger, providers, releases, metrics, store } = rooms;
  const { limits } = config;
  const inFlight = new InFlight();
  return {
    ledger,
    clock,
    shelf: releases.shelf,
    providers: providers.byName,
    rate: new Rate(
      { requestsPerMinute: limits.keyRequestsPerMinute, concurrent: limits.keyConcurrent },
      clock,
    ),
    inFlight,
    elsewhere: store.look === null ? null : new Elsewhere({ inFlight, look: store.look }),
    attachWaitMs: config.idempotency.attachWaitMs,
    refreshShelf: releases.refresh,
    showHeadroom: config.headers.headroom,
    timeouts: {
      answerMs: limits.answerTimeoutMs,
      streamMs: limits.requestTimeoutMs,
      firstPartMs: limits.firstPartWaitMs,
    },
    report: ({ release }, failure) => releases.health.report(release, failure?.reason ?? null),
    identify: (organizationId, value) =>
      createHmac("sha256", store.dataKey).update(`${organizationId}\n${value}`).digest("base64url"),
    lifelines: rooms.lifelines,
    progress: new ProgressLog(ledger, (error) => rooms.failed(error)),
    abandoned: (requestId) => {
      metrics.abandoned();
      rooms.failed(new Error("the hold stayed open; recovery resolves it"), requestId);
    },
  };
}

/** The operator API, loaded on its first request: it is large, and most gateways never need it while they start. */
function adminHandler(on: {
  ledger: Ledger;
  managementKeys: Pick<Ledger, "authenticateManagementKey">;
  clock: Clock;
  releases: Releases;
  payments: Desks["paymentDesk"];
  sql: Sql;
  flushJournal(): Promise<void>;
  people(): Promise<People>;
  url(): string;
}): Handler {
  const { ledger, clock, releases } = on;
  const loaded = lazily(async () => {
    const [{ createAdminApp }, { createOperator }, { accounts }, { auditNotes }] = await Promise.all([
      import("./http/admin/app.ts"),
      import("./operator/operator.ts"),
      import("./operator/people.ts"),
      import("./operator/desk/audit-notes.ts"),
    ]);
    const { note } = auditNotes(on.sql, clock);
    const people = accounts({ people: () => on.people(), url: () => on.url(), note });
    return createAdminApp({
      doors: { authenticate: (key) => ledger.authenticate(key), ...on.managementKeys },
      people: () => on.people(),
      operator: createOperator({ ...on, publisher: releases.publisher, people }),
    });
  });
  return async ({ request, requestId, address }) => (await loaded())(request, { requestId, address });
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
