// Data that an operator attaches to a question about this gateway: its states and figures at one moment. No secrets, no
// names of people, no customer data: settings come from an allowlist.
import type * as platformShapes from "../api/shapes/platform.ts";
import type { z } from "zod";
import { printTime } from "../domain/print.ts";
import { platformHealth, type PlatformPorts } from "./platform.ts";
import { providerRows, type ProvidersPorts } from "./providers.ts";
import { routeRows, type RoutesPorts } from "./routes.ts";
import { schemaVersion } from "./store-health.ts";

export interface SupportPorts extends PlatformPorts, ProvidersPorts, Omit<RoutesPorts, "ledger"> {
  ledger: PlatformPorts["ledger"] & RoutesPorts["ledger"];
  /** Without secrets (config/shown-settings.ts). */
  settings: Record<string, unknown>;
}

export const supportBundleNow = async (
  on: SupportPorts,
): Promise<z.output<typeof platformShapes.supportBundle>> => ({
  made_at: printTime(on.clock.nowMs()),
  health: await platformHealth(on),
  runtime: {
    bun: Bun.version,
    platform: process.platform,
    arch: process.arch,
    schema_version: await schemaVersion(on.sql),
  },
  settings: on.settings,
  providers: (await providerRows(on)).map((provider) => ({ ...provider, opened: provider.opened !== null })),
  routes: await routeRows(on),
});
