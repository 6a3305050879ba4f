// Time that passes for sessions: the sign-in library reads the machine's clock, so their beginning is moved instead.
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { PEOPLE_FILE } from "../../src/domain/data-files.ts";
import type { TestGateway } from "./gateway.ts";

/** All sessions of this gateway began that long ago. */
export function ageSessions({ dataDir }: Pick<TestGateway, "dataDir">, ms: number): void {
  const people = new Database(join(dataDir, PEOPLE_FILE));
  people.run("UPDATE session SET createdAt = ?1", [new Date(Date.now() - ms).toISOString()]);
  people.close();
}
