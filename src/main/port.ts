// Opens the port: the doors behind it, and what is counted and logged about them. Stop order is the reverse.
import type { Config } from "../config/config.ts";
import { CallScopes } from "../gateway/call-scope.ts";
import { AccessLog } from "../http/access-log.ts";
import { ClientAddress } from "../http/client-address.ts";
import { Cors } from "../http/cors.ts";
import { type Listening, listen, type ServerOptions } from "../http/server.ts";
import { listeningAddress } from "../lib/listening-address.ts";
import { written } from "../lib/log.ts";
import { type Doors, type DoorsOn, openDoors } from "./doors.ts";
import { drain, type Phase } from "./drain.ts";
import type { Services } from "./services.ts";
import { openWatching, type Watching } from "./watching.ts";
import type { Worker } from "./workers.ts";

/**
 * Above all of our own limits, whose refusals are readable; beyond it Bun responds with a bare 413
 * (hardening.md §1).
 */
const PARSER_BODY_BYTES = 64 * 1024 * 1024;

/** The parts that the doors are built from. */
interface Rooms extends Omit<DoorsOn, "watching" | "callScopes" | "address" | "phase" | "draining"> {
  worker: Worker | null;
  hurry?: AbortSignal;
}

/** A gateway whose port is open. */
interface Answering {
  server: Listening;
  services: Services;
  /** Drains, and closes every room but the store. */
  stop(): Promise<void>;
}

/** Connects the rooms and opens the port. If it cannot, throws `ListenFailure` after closing every room. */
export async function openPort(config: Config, rooms: Rooms): Promise<Answering> {
  const { clock, log, store } = rooms;
  const { drainDelayMs, stopGraceMs: graceMs } = config.limits;
  let phase: Phase = "serving";
  const draining = new AbortController();
  const callScopes = new CallScopes();
  const watching = openWatching(config, rooms);
  const doors = openDoors(config, {
    ...rooms,
    watching,
    callScopes,
    address: () => listeningAddress({ host: config.listen.host, port: server.port }),
    phase: () => phase,
    draining: draining.signal,
  });
  const access = new AccessLog(log, clock, watching.metrics);
  const close = async (): Promise<void> => {
    await doors.stop();
    rooms.releases.stop();
    await rooms.providers.stop();
    await watching.stop();
    access.close();
    await written(log);
  };
  const server: Listening = await listenOrClose(
    serverOptions(config, rooms, { watching, doors, access }),
    close,
  );
  const stop = async (): Promise<void> => {
    phase = "leaving";
    log.info(
      { running: callScopes.size, within_ms: drainDelayMs + graceMs },
      "told to stop: running answers may finish",
    );
    const hurried = abortOf(rooms.hurry).then(() =>
      log.warn({ running: callScopes.size }, "told to stop again: running answers are cut off"),
    );
    await Promise.race([Bun.sleep(drainDelayMs), hurried]);
    phase = "draining";
    draining.abort();
    await drain(server, { graceMs, hurried, callScopes, streams: watching.streams, ledger: store.ledger });
    await close();
  };
  return { server, services: doors.services, stop };
}

interface Behind {
  watching: Watching;
  doors: Doors;
  access: AccessLog;
}

const serverOptions = (
  { listen: at, cors, server, limits }: Config,
  { clock, formats, worker }: Rooms,
  { watching: { failed, metrics }, doors, access }: Behind,
): ServerOptions => ({
  ...at,
  share: worker,
  clock,
  failed,
  refused: (code) => metrics.refused(code),
  router: doors.router,
  cors: new Cors(cors.origins, formats),
  access,
  clients: new ClientAddress(server.trustedProxies),
  headerTimeoutMs: limits.headerTimeoutMs,
  keepAliveMs: limits.keepAliveMs,
  maxBodyBytes: PARSER_BODY_BYTES,
});

/** Resolves when the signal is aborted; never without one. */
const abortOf = (signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) resolve();
    signal?.addEventListener("abort", () => resolve(), { once: true });
  });

/** Opens the port; if it fails, closes the rooms, whose rounds would keep the process alive. */
async function listenOrClose(options: ServerOptions, close: () => Promise<void>): Promise<Listening> {
  try {
    return listen(options);
  } catch (error) {
    await close();
    throw error;
  }
}
