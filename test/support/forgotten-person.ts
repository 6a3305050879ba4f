// A person whose account is gone while rows still name them: no page does that, but a manual change to the store can.
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { PEOPLE_FILE } from "../../src/domain/data-files.ts";
import type { Store, TestGateway } from "./gateway.ts";

export async function forgetPerson(
  gateway: Pick<TestGateway, "dataDir" | "tamper">,
  store: Store,
  personId: string,
): Promise<void> {
  if (store === "postgres") {
    await gateway.tamper('DELETE FROM people."user" WHERE id = ?1', personId);
    return;
  }
  const people = new Database(join(gateway.dataDir, PEOPLE_FILE));
  people.run("PRAGMA foreign_keys = ON");
  people.run('DELETE FROM "user" WHERE id = ?1', [personId]);
  people.close();
}
