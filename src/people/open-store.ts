// Opens the store of people, or looks whether anybody is in it, without loading the sign-in library.
import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { openPeopleFile } from "./sqlite-store.ts";
import { PEOPLE_SCHEMA, peopleFile, type PeoplePlace, type PeopleStore } from "./store.ts";

export async function openPeopleStore(place: PeoplePlace): Promise<PeopleStore> {
  if (place.databaseUrl === null) return openPeopleFile(peopleFile(place.dataDir));
  const { openPeopleSchema } = await import("./postgres-store.ts");
  return await openPeopleSchema(place.databaseUrl);
}

/** Whether the first account was made, asked without loading the sign-in library: the start banner needs no more. */
export async function anybodyHere(place: PeoplePlace): Promise<boolean> {
  if (place.databaseUrl === null && !existsSync(peopleFile(place.dataDir))) return false;
  const store = await openPeopleStore(place);
  try {
    const { database } = store;
    if (database instanceof Database) {
      const [table] = database.query("SELECT 1 FROM sqlite_master WHERE name = 'user'").values();
      return table !== undefined && database.query(`SELECT 1 FROM "user" LIMIT 1`).values().length > 0;
    }
    const table = await database.query<{ found: unknown }>(
      `SELECT to_regclass('${PEOPLE_SCHEMA}.user') AS found`,
    );
    if (table.rows[0]?.found === null) return false;
    return (await database.query(`SELECT 1 FROM ${PEOPLE_SCHEMA}."user" LIMIT 1`)).rows.length > 0;
  } finally {
    await store.close();
  }
}
