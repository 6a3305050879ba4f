// The configured providers as adapters. A simulator without an address runs inside this process, on a loopback port.
import type { ProviderConfig } from "../config.ts";
import { createOpenAiProvider } from "../providers/openai.ts";
import type { Provider } from "../providers/provider.ts";
import type { HealthTarget } from "../releases/health.ts";

export interface Providers {
  byName: ReadonlyMap<string, Provider>;
  targets: HealthTarget[];
  stop(): Promise<void>;
}

/** Builds one adapter per configured provider and starts the simulators that have no address of their own. */
export async function openProviders(configs: readonly ProviderConfig[]): Promise<Providers> {
  const stops: (() => Promise<void>)[] = [];
  const byName = new Map<string, Provider>();
  for (const config of configs) {
    const baseUrl = config.baseUrl ?? (await startOwnSimulator(stops));
    byName.set(config.name, createOpenAiProvider({ ...config, baseUrl, probePath: config.health.probe }));
  }
  return {
    byName,
    targets: configs.map((config) => healthTarget(config, byName.get(config.name))),
    stop: async () => {
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}

async function startOwnSimulator(stops: (() => Promise<void>)[]): Promise<string> {
  const { startSimulator } = await import("../providers/simulator/server.ts");
  const simulator = await startSimulator({ port: 0 });
  stops.push(() => simulator.stop());
  return `${simulator.url}/v1`;
}

function healthTarget(
  { name, baseUrl, health }: ProviderConfig,
  provider: Provider | undefined,
): HealthTarget {
  const { intervalMs, openAfterFailures, halfOpenAfterMs } = health;
  // A simulator inside this process lives as long as we do.
  const probed = health.probe !== null && baseUrl !== null && provider !== undefined;
  return {
    provider: name,
    intervalMs,
    openAfterFailures,
    halfOpenAfterMs,
    probe: probed ? (signal) => provider.probe(signal) : null,
  };
}
