// The configured providers as adapters of any kind. A provider without an address runs inside this process.
import type { ProviderConfig } from "../config/config.ts";
import type { ProviderKind } from "../providers/kind.ts";
import { type OutboundProxy, proxyTo } from "../lib/outbound.ts";
import { Failure } from "../providers/failure.ts";
import type { Provider } from "../providers/provider.ts";
import type { HealthTarget } from "../releases/health.ts";

export interface Providers {
  byName: ReadonlyMap<string, Provider>;
  targets: HealthTarget[];
  stop(): Promise<void>;
}

/** Builds one adapter per configured provider and starts those that run inside this process. */
export async function openProviders(
  configs: readonly ProviderConfig[],
  proxy: OutboundProxy | null,
): Promise<Providers> {
  const stops: (() => Promise<void>)[] = [];
  const byName = new Map<string, Provider>();
  for (const { name, kind, own, timeouts, health, traceparent, ...config } of configs) {
    const baseUrl = config.baseUrl ?? (await startInside(kind, stops));
    byName.set(
      name,
      await kind.create(
        { name, baseUrl, timeouts, probePath: health.probe, traceparent, proxy: proxyTo(baseUrl, proxy) },
        own,
      ),
    );
  }
  return {
    byName,
    targets: configs.map((config) => healthTarget(config, byName.get(config.name))),
    stop: async () => {
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}

async function startInside(
  { name, startInside }: ProviderKind,
  stops: (() => Promise<void>)[],
): Promise<string> {
  if (startInside === undefined) throw new Error(`a provider of kind ${name} has no address`);
  const running = await startInside();
  stops.push(() => running.stop());
  return running.baseUrl;
}

function healthTarget(
  { name, baseUrl, health }: ProviderConfig,
  provider: Provider | undefined,
): HealthTarget {
  const { intervalMs, openAfterFailures, halfOpenAfterMs } = health;
  // A provider inside this process lives as long as we do.
  const probed = health.probe !== null && baseUrl !== null && provider !== undefined;
  return {
    provider: name,
    intervalMs,
    openAfterFailures,
    halfOpenAfterMs,
    probe: probed ? (signal) => provider.probe(signal).then(() => true, unlessShort) : null,
  };
}

/** False for a shortage on this machine, which says nothing about a provider. Rethrows everything else. */
function unlessShort(error: unknown): false {
  if (error instanceof Failure && error.reason === "shortage") return false;
  throw error;
}
