// Management keys: created and revoked by operators; keys of a person who leaves, and of a login that ends,
// are revoked.
import type { z } from "zod";
import type * as keyShapes from "../api/shapes/management-keys.ts";
import { declineUnfetched } from "../registry/device-logins.ts";
import { createManagementKey, revokeManagementKey } from "../registry/management-keys.ts";
import type { Actor } from "../domain/actor.ts";
import { unknownRecord } from "../domain/unknown-record.ts";
import type { Transactions } from "../ledger/ledger.ts";
import { newId } from "../lib/id.ts";
import type { Clock } from "../lib/clock.ts";
import type { People } from "../people/people.ts";
import { MAKER } from "../registry/persons.ts";
import { mintManagementKey } from "../registry/secret.ts";
import { managementKeyRow } from "../reporting/management-keys.ts";
import { type Sql, type SqlRow, textOf } from "../store/sql.ts";

interface ManagementKeyPorts {
  sql: Sql;
  clock: Clock;
  people: Pick<People, "persons">;
  ledger: Transactions;
}

export const managementKeys = (on: ManagementKeyPorts) => ({
  async createManagementKey(
    name: string,
    actor: Actor,
  ): Promise<z.output<typeof keyShapes.createdManagementKey>> {
    const id = newId("mk");
    const minted = mintManagementKey(id);
    await createManagementKey(on.ledger, { id, name, prefix: minted.prefix, digest: minted.digest }, actor);
    return { ...(await managementKeyRow(on, id)), secret: minted.value };
  },
  async revokeManagementKey(id: string, actor: Actor): Promise<z.output<typeof keyShapes.managementKey>> {
    const record = await revokeManagementKey(on.ledger, id, actor);
    if (record === null) throw unknownRecord("management_key", id, "key");
    return await managementKeyRow(on, id);
  },
  /** Revokes the management keys of this person's command line logins. */
  async endLogins(personId: string, actor: Actor): Promise<void> {
    await declineUnfetched(on.sql, personId);
    await revokeAll(on, await on.sql.rows(`${OPEN_KEYS} AND login_of = ?1`, personId), actor);
  },
  /** Revokes all management keys of this person, including those of logins. */
  async endManagementKeys(personId: string, actor: Actor): Promise<void> {
    await this.endLogins(personId, actor);
    await revokeAll(on, await on.sql.rows(`${OPEN_KEYS} AND ${MAKER} = ?1`, personId), actor);
  },
});

const OPEN_KEYS = "SELECT id FROM management_key WHERE revoked_at IS NULL";

async function revokeAll(
  { ledger }: Pick<ManagementKeyPorts, "ledger">,
  rows: readonly SqlRow[],
  actor: Actor,
): Promise<void> {
  for (const row of rows) await revokeManagementKey(ledger, textOf(row["id"]), actor);
}
