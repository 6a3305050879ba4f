// Opens the store of people, or checks whether anybody is in it, without loading the sign-in library.
import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { PEOPLE_SCHEMA } from "../domain/data-files.ts";
import { toldAway } from "../store/postgres-error.ts";
import { fileRefusal, openedFrom } from "../store/private-file.ts";
import { lookInto } from "../store/sqlite-connection.ts";
import { StoreFailure } from "../store/store-failure.ts";
import { openPeopleFile } from "./sqlite-store.ts";
import { peopleFile, type PeoplePlace, type PeopleStore } from "./store.ts";

export async function openPeopleStore(place: PeoplePlace): Promise<PeopleStore> {
  if (place.databaseUrl === null) return openPeopleFile(peopleFile(place.dataDir));
  const { openPeopleSchema } = await import("./postgres-store.ts");
  return await openPeopleSchema(place.databaseUrl);
}

/**
 * Why a start would not open the file of people; null if it would, or if there is none. Creates and changes
 * nothing.
 */
export function peopleRefusal(dataDir: string): StoreFailure | null {
  const path = peopleFile(dataDir);
  if (!existsSync(path)) return null;
  try {
    openedFrom(path, () => lookInto(path, (database) => database.query("SELECT 1 FROM sqlite_master").get()));
  } catch (error) {
    if (error instanceof StoreFailure) return fileRefusal(path) ?? error;
    throw error;
  }
  return fileRefusal(path);
}

/**
 * True if the first account exists. Does not load the sign-in library, because the start banner needs no
 * more. Rejects as `overloaded` if the database is unreachable.
 */
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
  } catch (error) {
    throw toldAway(error);
  } finally {
    await store.close();
  }
}
