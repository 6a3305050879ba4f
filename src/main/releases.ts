// The releases room, built and filled: the trusted keys, the store's releases and, in a gateway without
// configuration, the demo releases that it signs itself (interfaces.md §3).
import { readFile } from "node:fs/promises";
import type { Config } from "../config/config.ts";
import type { Ledger, Transactions } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import type { Jobs } from "../lib/jobs.ts";
import { messageOf } from "../domain/error-message.ts";
import type { Sql } from "../store/sql.ts";
import { Breakers } from "../releases/breakers.ts";
import { demoKeys, keepDemoFresh, renewDemo } from "../releases/demo.ts";
import { Health, type HealthTarget, type ProbeTold } from "../releases/health.ts";
import { Publisher, type ReleaseStore } from "../releases/publish.ts";
import { readTrustedKeys, type ReleaseKey, type TrustedKeys } from "../releases/release-key.ts";
import { RouteTable } from "../releases/route-table.ts";
import { allRoutes, newestReleases, publishRelease, setRouteDisabled } from "../registry/releases.ts";

export interface Releases {
  routeTable: RouteTable;
  health: Health;
  breakers: Breakers;
  publisher: Publisher;
  /** Reads immediately what was published and switched, by other gateways or by this one just now. */
  refresh: () => Promise<void>;
  /** True if other gateways share the store. */
  othersPublish: boolean;
  /** Ends the probes and the renewal of the demo. */
  stop(): void;
}

export interface ReleasesPorts {
  config: Config;
  ledger: Ledger;
  sql: Sql;
  clock: Clock;
  dataKey: Uint8Array;
  targets: HealthTarget[];
  /** True if other gateways publish to the same store. */
  shared: boolean;
  jobs: Jobs;
  probeTold?: ProbeTold;
}

/**
 * Loads what is published; publishes the demo if no trust is configured. Probes begin with `health.start()`.
 */
export async function openReleases({
  config,
  ledger,
  sql,
  clock,
  dataKey,
  targets,
  shared,
  jobs,
  probeTold,
}: ReleasesPorts): Promise<Releases> {
  const health = new Health(clock, targets, probeTold);
  const routeTable = new RouteTable({ clock, health });
  const breakers = new Breakers({ sql, clock, health });
  await breakers.load();
  const { trusted, demoKey } = await signers(config, dataKey);
  const publisher = new Publisher({
    store: releaseStore(ledger, jobs),
    routeTable,
    trusted,
    clock,
    unknownTerms: (error) => jobs.failed("releases_load", error),
  });
  await publisher.load();
  const demo = demoKey === null ? null : { publisher, routeTable, key: demoKey, clock };
  // Once more, since a machine that stalls in the middle of it loses its session; then failures count.
  if (demo !== null) await renewDemo(demo).catch(() => renewDemo(demo));
  const stopRenewal = demo === null ? null : keepDemoFresh(demo, jobs);
  const following = shared
    ? jobs.every("releases_follow", FOLLOW_EVERY_MS, followOthers({ publisher, breakers, ledger }))
    : null;
  return {
    routeTable,
    health,
    breakers,
    publisher,
    refresh: () => (following === null ? publisher.load() : following.now()),
    othersPublish: following !== null,
    stop: () => {
      if (following !== null) jobs.run("releases_follow", () => following.stop());
      stopRenewal?.();
      health.stop();
    },
  };
}

/**
 * The registry's functions that publication needs. A damaged release is reported once, and its route is
 * closed.
 */
function releaseStore(ledger: Transactions, jobs: Jobs): ReleaseStore {
  const told = new Set<string>();
  const unreadable = (error: unknown): void => {
    if (told.has(messageOf(error))) return;
    told.add(messageOf(error));
    jobs.failed("releases_load", error);
  };
  return {
    publishRelease: (published, actor) => publishRelease(ledger, published, actor),
    releases: (routes) => newestReleases(ledger, unreadable, routes),
    routes: () => allRoutes(ledger),
    setRouteDisabled: (route, disabled, reason, actor) =>
      setRouteDisabled(ledger, { route, disabled, reason }, actor),
  };
}

async function signers(
  { trust, dataDir }: Pick<Config, "trust" | "dataDir">,
  dataKey: Uint8Array,
): Promise<{ trusted: TrustedKeys; demoKey: ReleaseKey | null }> {
  if (trust === null) {
    const { key, trusted } = await demoKeys({ dataDir, dataKey });
    return { trusted, demoKey: key };
  }
  try {
    const files = await Promise.all(trust.releaseKeys.map(readKeyFile));
    return { trusted: await readTrustedKeys(files), demoKey: null };
  } catch (error) {
    throw new TrustFailure(messageOf(error));
  }
}

/** `trust.release_keys` cannot be used; the message names the file. */
class TrustFailure extends Error {
  readonly next = "trust.release_keys names public key files (JWK), as ./tollgate release keygen makes them.";
}

/**
 * Throws the error that a start would throw about the signing keys of releases. Creates and changes nothing.
 */
export async function assertSigners(config: Pick<Config, "trust" | "dataDir">): Promise<void> {
  await signers(config, new Uint8Array(32)); // instead of the store's key: a demo key can be derived from any
}

/** If the file contains no key, throws an error that names it. */
async function readKeyFile(path: string): Promise<unknown> {
  const value = await readJson(path);
  try {
    await readTrustedKeys([value]);
  } catch (error) {
    throw new Error(`${path}: ${messageOf(error)}`, { cause: error });
  }
  return value;
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    throw new Error(`${path} is not a key file (JWK): ${messageOf(error)}`, { cause: error });
  }
}

const FOLLOW_EVERY_MS = 1_000;

interface Followed {
  publisher: Publisher;
  breakers: Breakers;
  ledger: Ledger;
}

/**
 * Follows what other gateways publish and switch: every second for display, and at once for a request that
 * the route table or COMMIT 1 would otherwise refuse.
 */
function followOthers({ publisher, breakers, ledger }: Followed): () => Promise<void> {
  let seen = "";
  return async () => {
    if (!ledger.ready()) return;
    await breakers.load();
    const now = JSON.stringify(await allRoutes(ledger));
    if (now !== seen || publisher.hasDamaged()) await publisher.load(); // a damaged one may have been repaired
    seen = now;
  };
}
