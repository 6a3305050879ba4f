// Three gateways on one database; the clocks of two are wrong by the same amount in opposite directions.
import { join } from "node:path";
import pg from "pg";
import { testPostgres } from "./postgres.ts";
import { ProcessGateway } from "./process-gateway.ts";

export interface SkewedGateways {
  right: ProcessGateway;
  behind: ProcessGateway;
  ahead: ProcessGateway;
  /** A client for their database. */
  admin: pg.Client;
  stop(): Promise<void>;
}

/** `settings`: of the tollgate.yaml that they share. */
export async function startSkewed(skewMs: number, settings = ""): Promise<SkewedGateways> {
  const database = await (await testPostgres()).migrated();
  const skewed = (ms: number): Record<string, string> => ({
    DATABASE_URL: database.url,
    BUN_OPTIONS: `--preload=${join(import.meta.dir, "skewed-clock.ts")}`,
    TEST_CLOCK_SKEW_MS: String(ms),
  });
  const right = await ProcessGateway.start({ DATABASE_URL: database.url }, settings);
  const [behind, ahead] = await Promise.all([right.beside(skewed(-skewMs)), right.beside(skewed(skewMs))]);
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  return {
    right,
    behind,
    ahead,
    admin,
    async stop() {
      await admin.end();
      for (const gateway of [ahead, behind, right]) await gateway.stop();
      await database.drop();
    },
  };
}
