// Starts a gateway: store before ledger, ledger before releases, everything before the port opens; stop order is the reverse.
import type { Config } from "../config/config.ts";
import { isOverloaded } from "../domain/overloaded.ts";
import type { Format } from "../gateway/formats/format.ts";
import { FORMATS } from "../gateway/formats/formats.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import type { Jobs } from "../lib/jobs.ts";
import { listeningAddress } from "../lib/listening-address.ts";
import { createLog, type Log } from "../lib/log.ts";
import { takeProxy } from "../lib/outbound.ts";
import { aloud, type Say } from "../lib/aloud.ts";
import { unlessAborted } from "../lib/within.ts";
import { lostWhileStarting } from "../store/postgres-error.ts";
import { StoreFailure } from "../store/store-failure.ts";
import { firstRunLink } from "./dashboard-api.ts";
import type { PeopleTerms } from "./dashboard-rooms.ts";
import { type Demo, firstStart, newDemo } from "./first-start.ts";
import { jobsOn } from "./jobs.ts";
import { openOperatorFile } from "./operator-file.ts";
import { openProviders } from "./providers.ts";
import { openReleases } from "./releases.ts";
import { probeToldOf } from "./reports.ts";
import type { Services } from "./services.ts";
import { type OpenedStore, openStore } from "./store.ts";
import type { Worker } from "./workers.ts";
import { openPort } from "./port.ts";

export interface Running {
  /** `http://host:port`. */
  url: string;
  /** The demo organization's key; only on the first start of an empty store. */
  demoKey: string | null;
  /** Creates the first account, once, within an hour; null if there is one. */
  signInLink: string | null;
  /** No release is published: no model can be called. */
  sellsNothing: boolean;
  ledger: Ledger;
  /** Payments and alerts. */
  services: Services;
  /** Stops admission, lets responses finish, closes the store. */
  stop(): Promise<void>;
}

export interface StartPorts {
  clock?: Clock;
  log?: Log;
  jobs?: Jobs;
  /** The surfaces that it serves; default: all. */
  formats?: readonly Format[];
  /** Default: the configured store. */
  openStore?: typeof openStore;
  /** One of several processes on one port; only the first tells the operator where they are. */
  worker?: Worker | null;
  peopleTerms?: PeopleTerms;
  /** Aborts the start between two of its steps; it then throws the signal's reason. */
  signal?: AbortSignal;
  /** A second request to stop: running responses are cut now, not after their grace time. */
  hurry?: AbortSignal;
  /** Called when the store has another data key: this gateway serves nothing any more, and must end. */
  keyChanged?: (error: Error) => void;
  /** Called when the port is open, before `start` resolves: from here on callers may wait for responses. */
  onListening?: () => void;
}

/** The arguments of a start, with defaults applied. */
type Process = Pick<StartPorts, "signal" | "hurry" | "keyChanged" | "onListening"> &
  Required<Pick<StartPorts, "log" | "jobs" | "formats" | "openStore" | "worker" | "peopleTerms">> & {
    say: Say;
    demo: Demo;
  };

/** How often a start that loses its database is begun again. */
const TRIES = 4;
const BETWEEN_TRIES_MS = 500;

/** Starts a gateway in this process. If it cannot, throws an error with a sentence for the operator. */
export async function start(config: Config, ports: StartPorts = {}): Promise<Running> {
  const log = ports.log ?? createLog(config.log.level);
  const given: Process = {
    ...ports,
    log,
    jobs: ports.jobs ?? jobsOn(log),
    formats: ports.formats ?? FORMATS,
    openStore: ports.openStore ?? openStore,
    worker: ports.worker ?? null,
    peopleTerms: ports.peopleTerms ?? {},
    say: (words) => log.warn(words),
    demo: newDemo(),
  };
  takeProxy(config.outbound.proxy, process.env);
  for (let left = TRIES - 1; ; left -= 1)
    try {
      return await startOnce(config, given, ports.clock);
    } catch (error) {
      if (!(error instanceof StoreFailure && error.reason === "lost") || left === 0) throw error;
      given.signal?.throwIfAborted();
      given.say(`${error.why}; starting again, ${left} more times at most`);
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_TRIES_MS));
    }
}

/** Each of its steps may follow a start that ended in the middle: until the port is open nobody has been told anything. */
async function startOnce(config: Config, given: Process, clock: Clock | undefined): Promise<Running> {
  const store = await given.openStore(config, { ...given, clock });
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
  const { ledger, sql, clock } = store;
  const { jobs, worker, signal, say } = given;
  signal?.throwIfAborted();
  const providers = await openProviders(config.providers, config.outbound.proxy);
  let close = (): Promise<void> => providers.stop();
  try {
    const opening = () =>
      openReleases({
        config,
        ledger,
        sql,
        clock,
        dataKey: store.dataKey,
        targets: providers.targets,
        shared: store.look !== null,
        jobs,
        probeTold: probeToldOf(given.log),
      });
    const releases = await aloud(say, () => "the releases, from the store", opening);
    close = async () => {
      releases.stop();
      await providers.stop();
    };
    signal?.throwIfAborted();
    const gateway = await openPort(config, { ...given, clock, store, providers, releases });
    close = () => gateway.stop(); // otherwise it would go on responding without a store
    given.onListening?.();
    // The banner shows its key only once, so a start that fails because the port is taken must not create it.
    const demoKey = config.trust === null ? await firstStart(ledger, given.demo) : null;
    const url = listeningAddress({ host: config.listen.host, port: gateway.server.port });
    const operatorFile = await openOperatorFile(
      {
        ledger,
        dataDir: config.dataDir,
        configuration: { file: config.file, digest: config.fileDigest },
        shared: store.look !== null,
        jobs,
        log: given.log,
      },
      { url, beside: worker === "other" },
    );
    close = async () => {
      await gateway.stop();
      await operatorFile.stop();
    };
    releases.health.start(jobs);
    const signInLink =
      worker === "other"
        ? null
        : await aloud(
            say,
            () => "the tables of people",
            () =>
              unlessAborted(
                firstRunLink(config, { url: config.publicUrl ?? url, dataKey: store.dataKey, clock }),
                signal,
              ),
          );
    const stop = async (): Promise<void> => {
      try {
        await close();
      } finally {
        await closeStore(store); // releases the lease, whatever else failed to close
      }
    };
    const sellsNothing = releases.routeTable.standings().length === 0;
    return { url, demoKey, signInLink, sellsNothing, ledger, services: gateway.services, stop };
  } catch (error) {
    await close();
    throw error;
  }
}

async function closeStore(store: OpenedStore): Promise<void> {
  await store.ledger.close();
  await store.close();
}
