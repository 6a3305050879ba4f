// What the tests of all shapes share: a provider at an address, and the failure of an action.
import type { Codec } from "../codec.ts";
import { Failure } from "../failure.ts";
import type { Provider } from "../provider.ts";
import { httpProvider, type ProviderAddress } from "./http-provider.ts";
import type { Timeouts } from "./timeouts.ts";

/** Limits that no test reaches by chance. */
export const FAR: Timeouts = { connectMs: 2000, firstTokenMs: 5000, idleMs: 5000, totalMs: 5000 };

export const providerOver = <Event>(
  codec: Codec<Event>,
  baseUrl: string,
  change: Partial<ProviderAddress> = {},
): Provider => httpProvider({ name: "acme", baseUrl, probePath: "/models", timeouts: FAR, ...change }, codec);

/** Returns the failure that an action throws. */
export function thrown(action: () => unknown): Failure {
  try {
    action();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error("it did not fail");
}
