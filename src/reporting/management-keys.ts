// Management keys as operators see them, each with the person it acts for.
import { sql as fragment } from "kysely";
import type * as keyShapes from "../api/shapes/management-keys.ts";
import type { z } from "zod";
import { INSTALLATION } from "../domain/actor.ts";
import { printTime, printTimeOrNull } from "../domain/print.ts";
import { unknownRecord } from "../domain/unknown-record.ts";
import { isOpen } from "../registry/management-keys.ts";
import type { Clock } from "../lib/clock.ts";
import type { People } from "../people/people.ts";
import { MAKER, ownerBy } from "../registry/persons.ts";
import { from, numberOrNull, rowsOf } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import type { Tables } from "../store/tables.ts";

type Key = z.output<typeof keyShapes.managementKeyList>["data"][number];
type Row = Tables["management_key"] & { maker: string | null };

interface KeyPorts {
  sql: Sql;
  clock: Clock;
  people: Pick<People, "persons">;
}

const keys = from
  .selectFrom("management_key")
  .selectAll()
  .select(fragment<string | null>`${fragment.raw(MAKER)}`.as("maker"));

export const managementKeyRows = async (on: KeyPorts): Promise<Key[]> =>
  printed(on, await rowsOf(on.sql, keys.orderBy("created_at", "desc").orderBy("id")));

/** Throws `OperatorRefusal` if there is none with this id. */
export async function managementKeyRow(on: KeyPorts, id: string): Promise<Key> {
  const [key] = await printed(on, await rowsOf(on.sql, keys.where("id", "=", id)));
  if (key === undefined) throw unknownRecord("management_key", id, "key");
  return key;
}

async function printed({ clock, people }: KeyPorts, rows: readonly Row[]): Promise<Key[]> {
  const owners = rows.map((row) => ownerBy(row.maker));
  const persons = await people.persons([...new Set(owners)].filter((owner) => owner !== INSTALLATION));
  const names = new Map(persons.map(({ id, name }) => [id, name]));
  const nowMs = clock.nowMs();
  return rows.map((row) => {
    const owner = ownerBy(row.maker);
    return {
      id: row.id,
      name: row.name,
      prefix: row.prefix,
      owner: owner === INSTALLATION ? null : { id: owner, name: names.get(owner) ?? null },
      created_at: printTime(row.created_at),
      expires_at: printTimeOrNull(row.expires_at),
      revoked_at: printTimeOrNull(row.revoked_at),
      state: stateOf(row, nowMs),
      last_used_at: printTimeOrNull(row.last_used_at),
    };
  });
}

function stateOf({ revoked_at, expires_at }: Row, nowMs: number): Key["state"] {
  const times = { revokedAtMs: numberOrNull(revoked_at), expiresAtMs: numberOrNull(expires_at) };
  if (isOpen(times, nowMs)) return "active";
  return revoked_at === null ? "expired" : "revoked";
}
