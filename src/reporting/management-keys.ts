// Management keys as operators see them, each with the person it acts for.
import { type Expression, type ExpressionBuilder, sql as fragment, type SqlBool } from "kysely";
import type * as keyShapes from "../api/shapes/management-keys.ts";
import type { z } from "zod";
import { INSTALLATION } from "../domain/actor.ts";
import { PAGE_ROWS } from "../domain/page-rows.ts";
import { printTime, printTimeOrNull } from "../domain/print.ts";
import { unknownRecord } from "../domain/unknown-record.ts";
import { isOpen } from "../registry/management-keys.ts";
import type { Clock } from "../lib/clock.ts";
import type { People } from "../people/people.ts";
import { MAKER, ownerBy } from "../registry/persons.ts";
import { from, isPart, numberOrNull, rowsOf, when } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import type { Tables } from "../store/tables.ts";
import { rowCursor } from "./cursors.ts";

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

/** Newest first. Throws `Refusal` for a cursor that no page returned. */
export async function managementKeysPage(
  on: KeyPorts,
  { cursor, limit = PAGE_ROWS, search = "", state }: z.output<typeof keyShapes.managementKeysQuery>,
): Promise<z.output<typeof keyShapes.managementKeyList>> {
  const after = await rowCursor(cursor, async (id) => {
    const found = await rowsOf(on.sql, from.selectFrom("management_key").select("id").where("id", "=", id));
    return found.length > 0;
  });
  const query = keys
    .where((eb) =>
      eb.and([
        ...when(after ?? undefined, (last) =>
          eb(
            eb.refTuple("created_at", "id"),
            "<",
            eb
              .selectFrom("management_key as last")
              .select(["last.created_at", "last.id"])
              .where("last.id", "=", last)
              .$asTuple("created_at", "id"),
          ),
        ),
        ...when(search === "" ? undefined : search, (text) =>
          eb.or([isPart(eb.ref("name"), text), isPart(eb.ref("prefix"), text), eb("id", "=", text)]),
        ),
        ...when(state, (one) => inState(eb, one, BigInt(on.clock.nowMs()))),
      ]),
    )
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit + 1);
  const rows = await rowsOf(on.sql, query);
  const data = await printed(on, rows.slice(0, limit));
  return { data, next_cursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null };
}

/** The same rule as `stateOf`. */
function inState(
  eb: ExpressionBuilder<Tables, "management_key">,
  state: Key["state"],
  nowMs: bigint,
): Expression<SqlBool> {
  if (state === "revoked") return eb("revoked_at", "is not", null);
  const open = eb("revoked_at", "is", null);
  if (state === "expired") return eb.and([open, eb("expires_at", "<=", nowMs)]);
  return eb.and([open, eb.or([eb("expires_at", "is", null), eb("expires_at", ">", nowMs)])]);
}

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
