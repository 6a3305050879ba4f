// Makes sessions older, for a gateway that does not use the test's clock: it moves their start instead.
import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { PEOPLE_FILE } from "../../src/domain/data-files.ts";
import type { TestGateway } from "./gateway.ts";

/** Moves the start of all sessions of this gateway that far into the past. */
export async function ageSessions(
  gateway: Pick<TestGateway, "dataDir" | "tamper">,
  ms: number,
): Promise<void> {
  const file = join(gateway.dataDir, PEOPLE_FILE);
  const beganAt = new Date(Date.now() - ms).toISOString();
  if (!existsSync(file)) return await gateway.tamper('UPDATE people.session SET "createdAt" = ?1', beganAt);
  const people = new Database(file);
  people.run("UPDATE session SET createdAt = ?1", [beganAt]);
  people.close();
}
