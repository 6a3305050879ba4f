// The environment that tells a gateway process its store: nothing for the file in its data directory, or the address
// of a database of its own.
import { type TestDatabase, testPostgres } from "./postgres.ts";

const databases: TestDatabase[] = [];

/** By the name of the store: the environment of one gateway. Users call `dropDatabases` at the end. */
export const STORE_ENVIRONMENTS = {
  SQLite: (): Promise<Record<string, string>> => Promise.resolve({}),
  PostgreSQL: async (): Promise<Record<string, string>> => {
    const database = await (await testPostgres()).migrated();
    databases.push(database);
    return { DATABASE_URL: database.url };
  },
} as const;

/** Drops the databases made so far. */
export async function dropDatabases(): Promise<void> {
  for (const database of databases.splice(0)) await database.drop();
}
