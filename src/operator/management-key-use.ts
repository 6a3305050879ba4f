// Runs on each use of a management key: checks that its owner is an operator now, and records the time of
// use, so that unused keys can be found and revoked. This process writes at most once a minute per key;
// requests of `/v1` never come here.
import { INSTALLATION } from "../domain/actor.ts";
import type { People } from "../people/people.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Reader } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import type { Sql } from "../store/sql.ts";
import {
  authenticateManagementKey,
  type ManagementKeyDoor,
  managementKeyUsed,
} from "../registry/management-keys.ts";

const EVERY_MS = 60_000;

interface UsePorts {
  ledger: Reader;
  /** Opened only for keys of persons: keys of the installation need no check. */
  people(): Promise<Pick<People, "persons">>;
  sql: Sql;
  clock: Clock;
  failed: (error: unknown) => void;
}

/**
 * Authenticates as the ledger does, and records the time. Throws 401 for a key whose owner is not an
 * operator; a use that cannot be recorded locks nobody out.
 */
export function managementKeyUse(on: UsePorts): ManagementKeyDoor {
  const { ledger, sql, clock, failed } = on;
  const written = new Map<string, number>();
  const remember = async (id: string): Promise<void> => {
    const nowMs = clock.nowMs();
    const beforeMs = written.get(id);
    if (beforeMs !== undefined && nowMs - beforeMs < EVERY_MS) return;
    written.set(id, nowMs);
    try {
      await sql.together([managementKeyUsed(id, { atMs: nowMs, everyMs: EVERY_MS })]);
    } catch (error) {
      written.delete(id);
      failed(error);
    }
  };
  return {
    async authenticateManagementKey(id, digest) {
      const key = await authenticateManagementKey(ledger, id, digest);
      if (key === null) return null;
      if (!(await operates(on, key.owner))) throw orphaned();
      void remember(key.id); // not awaited: a store that accepts no writes may take long to say so
      return key;
    },
  };
}

async function operates({ people }: Pick<UsePorts, "people">, owner: string): Promise<boolean> {
  if (owner === INSTALLATION) return true;
  const [person] = await (await people()).persons([owner]);
  return person?.operator === true;
}

const orphaned = (): Refusal =>
  new Refusal(
    "invalid_api_key",
    "The person who created this management key, or signed in to get it, is no longer an operator. Ask an operator for a new key, or sign in with ./tollgate login.",
  );
