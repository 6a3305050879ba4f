// The releases room, built and filled: which keys are trusted, what the store holds, and, in a gateway without
// configuration, the demo releases that it signs itself (interfaces.md §3).
import { readFile } from "node:fs/promises";
import type { Config } from "../config.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import { every } from "../lib/every.ts";
import type { Sql } from "../store/sql.ts";
import { Breakers } from "../releases/breakers.ts";
import { ensureDemoKey, keepDemoFresh, renewDemo } from "../releases/demo.ts";
import { Health, type HealthTarget } from "../releases/health.ts";
import { Publisher } from "../releases/publish.ts";
import { readTrustedKeys, type ReleaseKey, type TrustedKeys } from "../releases/release-key.ts";
import { Shelf } from "../releases/shelf.ts";

export interface Releases {
  shelf: Shelf;
  health: Health;
  breakers: Breakers;
  publisher: Publisher;
  /** Learns at once what other gateways published and switched; null when no others share the store. */
  refresh: (() => Promise<void>) | null;
  /** Ends the probes and the renewal of the demo. */
  stop(): void;
}

export interface ReleasesPorts {
  config: Config;
  ledger: Ledger;
  sql: Sql;
  clock: Clock;
  targets: HealthTarget[];
  /** Whether other gateways publish to the same store. */
  shared: boolean;
  failed(error: unknown): void;
}

/** Loads what is published; publishes the demo where nobody configured trust. Probes begin with `health.start()`. */
export async function openReleases({
  config,
  ledger,
  sql,
  clock,
  targets,
  shared,
  ...ports
}: ReleasesPorts): Promise<Releases> {
  const health = new Health(clock, targets);
  const shelf = new Shelf({ clock, health });
  const breakers = new Breakers({ sql, clock, health });
  await breakers.load();
  const { trusted, demoKey } = await signers(config);
  const publisher = new Publisher({ store: ledger, shelf, trusted, clock });
  await publisher.load();
  const stopRenewal =
    demoKey === null
      ? null
      : await startDemo({ publisher, shelf, key: demoKey, clock }, (error) => ports.failed(error));
  const following = shared
    ? every(FOLLOW_EVERY_MS, followOthers({ publisher, breakers, ledger }), (error) => ports.failed(error))
    : null;
  return {
    shelf,
    health,
    breakers,
    publisher,
    refresh: following && (() => following.now()),
    stop: () => {
      void following?.stop();
      stopRenewal?.();
      health.stop();
    },
  };
}

async function signers({
  trust,
  dataDir,
}: Config): Promise<{ trusted: TrustedKeys; demoKey: ReleaseKey | null }> {
  if (trust === null) {
    const { key, trusted } = await ensureDemoKey(dataDir);
    return { trusted, demoKey: key };
  }
  const files = await Promise.all(trust.releaseKeys.map(readJson));
  return { trusted: await readTrustedKeys(files), demoKey: null };
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    throw new Error(
      `${path} is not a key file (JWK): ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function startDemo(
  ports: Parameters<typeof renewDemo>[0] & { publisher: Publisher },
  failed: (error: unknown) => void,
): Promise<() => void> {
  try {
    await renewDemo(ports);
  } catch {
    // Another gateway that starts at the same time may have published them first: look again, then it counts.
    await ports.publisher.load();
    await renewDemo(ports);
  }
  return keepDemoFresh(ports, failed);
}

const FOLLOW_EVERY_MS = 1_000;

interface Followed {
  publisher: Publisher;
  breakers: Breakers;
  ledger: Ledger;
}

/**
 * Takes over what other gateways publish and switch: every second for what is shown, and at once for a request that the
 * shelf or COMMIT 1 would refuse over it.
 */
function followOthers({ publisher, breakers, ledger }: Followed): () => Promise<void> {
  let seen = "";
  return async () => {
    if (!ledger.ready()) return;
    await breakers.load();
    const now = JSON.stringify(await ledger.routes());
    if (now !== seen) await publisher.load();
    seen = now;
  };
}
