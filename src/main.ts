// Builds every room, listens, drains; the only file that knows them all. Start order: store before ledger, ledger before
// releases, everything before the port opens; stop order is the reverse.
import { createHmac } from "node:crypto";
import type { Config } from "./config.ts";
import type { Handler } from "./http/context.ts";
import { AccessLog } from "./http/access-log.ts";
import { Cors } from "./http/cors.ts";
import { dashboardRoutes } from "./http/dashboard.ts";
import { Router } from "./http/router.ts";
import { type Listening, listen } from "./http/server.ts";
import { EventStreams } from "./http/sse.ts";
import { InFlight } from "./gateway/in-flight.ts";
import { Rate } from "./gateway/rate.ts";
import type { CompletePorts } from "./gateway/complete.ts";
import type { Ledger } from "./ledger/ledger.ts";
import { openSqliteLedger } from "./ledger/sqlite.ts";
import { type Clock, systemClock } from "./lib/clock.ts";
import { createLog, type Log } from "./lib/log.ts";
import { Metrics } from "./lib/metrics.ts";
import { banner } from "./main/banner.ts";
import { dashboardAssets } from "./main/dashboard.ts";
import { firstStart } from "./main/first-start.ts";
import { writeOperatorFile } from "./main/operator-file.ts";
import { openProviders, type Providers } from "./main/providers.ts";
import { openReleases, type Releases } from "./main/releases.ts";
import { routeTable } from "./main/routes.ts";
import { stopCounting } from "./pricing/tokens.ts";
import { openSqliteStore, type SqliteStore } from "./store/sqlite.ts";

/** Above every limit of ours, whose refusals can be read; beyond it Bun answers a bare 413 (hardening.md §1). */
const PARSER_BODY_BYTES = 64 * 1024 * 1024;
const GRACE_MS = 30_000;
const POSTGRESQL_IS_NOT_READY =
  "DATABASE_URL is set, but this version keeps its ledger only in the data directory. Unset it to start.";

export interface Running {
  /** `http://host:port`. */
  url: string;
  /** Of the demo organization; only on the first start of an empty store. */
  demoKey: string | null;
  ledger: Ledger;
  /** Stops admission, lets answers finish, closes the store. */
  stop(): Promise<void>;
}

/** Starts a gateway in this process. Throws with a sentence for the operator when it cannot. */
export async function start(config: Config, ports: { clock?: Clock; log?: Log } = {}): Promise<Running> {
  const clock = ports.clock ?? systemClock;
  const log = ports.log ?? createLog(config.log.level);
  ignoreProxies();
  if (config.databaseUrl !== null) throw new Error(POSTGRESQL_IS_NOT_READY);
  const store = openSqliteStore(config.dataDir);
  const ledger = await openSqliteLedger({ store, clock, idempotency: config.idempotency });
  const providers = await openProviders(config.providers);
  const releases = await openReleases({
    config,
    ledger,
    clock,
    targets: providers.targets,
    failed: (error) => log.error({ err: error }, "a demo release could not be renewed"),
  });
  const demoKey = config.trust === null ? await firstStart(ledger) : null;
  const house = furnish(config, { clock, log, store, ledger, providers, releases });
  const url = `http://${config.listen.host.includes(":") ? `[${config.listen.host}]` : config.listen.host}:${house.server.port}`;
  await writeOperatorFile(ledger, { dataDir: config.dataDir, url });
  releases.health.start();
  return { url, demoKey, ledger, stop: () => house.stop() };
}

/** `start`, then the banner, and a stop on SIGTERM or SIGINT. */
export async function serve(config: Config): Promise<Running> {
  const running = await start(config);
  const baseUrl = `${config.publicUrl ?? running.url}/v1`;
  process.stdout.write(
    banner({
      baseUrl,
      demo: running.demoKey === null ? null : { secret: running.demoKey, model: "base-preview-v1" },
    }),
  );
  let stopping = false;
  const stop = async (): Promise<void> => {
    if (stopping) return;
    stopping = true;
    await running.stop();
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void stop());
  return running;
}

interface Rooms {
  clock: Clock;
  log: Log;
  store: SqliteStore;
  ledger: Ledger;
  providers: Providers;
  releases: Releases;
}

/** Connects the rooms and opens the port. */
function furnish(config: Config, rooms: Rooms): { server: Listening; stop(): Promise<void> } {
  const { clock, log, ledger, releases, providers, store } = rooms;
  let draining = false;
  const failed = (error: unknown, id?: string): void =>
    log.error({ id, err: error }, "a request failed inside the gateway");
  const streams = new EventStreams(clock, { failed });
  const metrics = new Metrics(() => streams.size);
  const baseUrl = `${config.publicUrl ?? `http://${config.listen.host}:${config.listen.port}`}/v1`;
  const routes = routeTable({
    ledger,
    clock,
    streams,
    metrics,
    shelf: releases.shelf,
    complete: completePorts(config, { ...rooms, metrics, failed }),
    admin: adminHandler({ ledger, clock, releases }),
    bodyBytes: config.limits.bodyBytes,
    streamIdleMs: config.limits.streamIdleMs,
    maxConcurrent: config.limits.maxConcurrent,
    draining: () => draining,
  });
  const server = listen({
    ...config.listen,
    clock,
    failed,
    router: new Router([...routes, ...dashboardRoutes({ assets: dashboardAssets(config.dataDir) })], baseUrl),
    cors: new Cors(config.cors.origins),
    access: new AccessLog(log, clock, metrics),
    headerTimeoutMs: config.limits.headerTimeoutMs,
    maxBodyBytes: PARSER_BODY_BYTES,
  });
  const stop = async (): Promise<void> => {
    draining = true;
    await withinGrace(server, streams);
    releases.stop();
    await providers.stop();
    await ledger.close();
    store.close();
    stopCounting();
    log.flush();
  };
  return { server, stop };
}

function completePorts(
  config: Config,
  rooms: Rooms & { metrics: Metrics; failed(error: unknown, id?: string): void },
): CompletePorts & { ledger: Ledger; shelf: Releases["shelf"] } {
  const { clock, ledger, providers, releases, metrics, store } = rooms;
  const { limits } = config;
  return {
    ledger,
    clock,
    shelf: releases.shelf,
    providers: providers.byName,
    rate: new Rate(
      { requestsPerMinute: limits.keyRequestsPerMinute, concurrent: limits.keyConcurrent },
      clock,
    ),
    inFlight: new InFlight(),
    attachWaitMs: config.idempotency.attachWaitMs,
    showHeadroom: config.headers.headroom,
    timeouts: {
      answerMs: limits.answerTimeoutMs,
      streamMs: limits.requestTimeoutMs,
      firstPartMs: limits.firstPartWaitMs,
    },
    report: ({ release }, failure) => releases.health.report(release, failure?.reason ?? null),
    identify: (organizationId, value) =>
      createHmac("sha256", store.dataKey).update(`${organizationId}\n${value}`).digest("base64url"),
    abandoned: (requestId) => {
      metrics.abandoned();
      rooms.failed(new Error("the hold stayed open; recovery resolves it"), requestId);
    },
  };
}

/** The operator API, loaded on its first request: it is large, and most gateways never need it while they start. */
function adminHandler(on: { ledger: Ledger; clock: Clock; releases: Releases }): Handler {
  const { ledger, clock, releases } = on;
  const loaded = lazily(async () => {
    const [{ createAdminApp }, { createOperator }] = await Promise.all([
      import("./http/admin/app.ts"),
      import("./operator/operator.ts"),
    ]);
    return createAdminApp({
      ledger,
      operator: createOperator({ ledger, clock, publisher: releases.publisher }),
    });
  });
  return async ({ request, requestId }) => (await loaded())(request, { requestId });
}

function lazily<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | null = null;
  return () => (loaded ??= load());
}

/** Open answers may finish for the grace time; then their sockets are cut, and their holds settle by evidence. */
async function withinGrace(server: Listening, streams: EventStreams): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, GRACE_MS);
  });
  await Promise.race([server.stop("drain"), late]);
  clearTimeout(timer);
  await server.stop("cut");
  await streams.idle();
}

/** Bun's fetch obeys proxy variables by itself; providers are reached directly or not at all (S13). */
function ignoreProxies(): void {
  for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"])
    delete process.env[name];
}
