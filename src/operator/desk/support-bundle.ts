// What an operator sends along with a question about this gateway: states and figures of a moment. No secret, no name of
// a person, nothing of customers: settings come from a list of those that may be shown.
import type { Desk } from "../../contract/desk.ts";
import type { Clock } from "../../lib/clock.ts";
import { numberOf, type Sql } from "../../store/sql.ts";

export interface SupportPorts {
  sql: Sql;
  clock: Clock;
  /** Without secrets (config/shown-settings.ts). */
  settings: Record<string, unknown>;
}

export const supportBundle = (
  { sql, clock, settings }: SupportPorts,
  desk: Pick<Desk, "allRoutes" | "health" | "providers">,
): Pick<Desk, "supportBundle"> => ({
  async supportBundle() {
    const [row] = await sql.rows("SELECT max(version) AS version FROM schema_migration");
    return {
      made_at: new Date(clock.nowMs()).toISOString(),
      health: await desk.health(),
      runtime: {
        bun: Bun.version,
        platform: process.platform,
        arch: process.arch,
        schema_version: numberOf(row?.["version"] ?? 0),
      },
      settings,
      providers: (await desk.providers()).map((provider) => ({
        ...provider,
        opened: provider.opened !== null,
      })),
      routes: await desk.allRoutes(),
    };
  },
});
