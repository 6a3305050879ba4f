// People from their file into PostgreSQL, with `db move`: accounts, sessions, second factors, memberships, invitations.
import { Database } from "bun:sqlite";
import { existsSync, renameSync } from "node:fs";
import type { Pool } from "pg";
import { assertEmpty, copyTable, tablesOf } from "../store/move.ts";
import { openSignIn } from "./sign-in.ts";
import { openPeopleStore, type PeoplePlace, type PeopleStore, peopleFile } from "./store.ts";

/** Counts of sign-ins of the last minute stay behind. */
const LEFT_BEHIND = new Set(["rateLimit"]);

/** Table → rows; nothing when nobody ever had an account. Throws, and changes nothing, when people are there already. */
export async function movePeople(
  place: PeoplePlace & { databaseUrl: string },
): Promise<Record<string, number>> {
  const file = peopleFile(place.dataDir);
  if (!existsSync(file)) return {};
  const from = await openMade({ ...place, databaseUrl: null });
  const to = await openMade(place);
  try {
    if (!(from.database instanceof Database) || to.database instanceof Database)
      throw new Error("people are moved from a file into a database");
    const rows = await copyAll(from.database, to.database);
    await from.close();
    renameSync(file, `${file}.moved`);
    return rows;
  } finally {
    await to.close();
  }
}

/** With its tables as this program knows them. */
async function openMade(place: PeoplePlace): Promise<PeopleStore> {
  const store = await openPeopleStore(place);
  const secret = "rows are copied as they are, sealed ones too";
  await openSignIn({ store, secret, url: "http://127.0.0.1", origins: [], oidc: [], signInsPerMinute: 1 });
  return store;
}

async function copyAll(from: Database, to: Pool): Promise<Record<string, number>> {
  // Accounts first: the others name them.
  const others = tablesOf(from).filter((table) => table !== "user" && !LEFT_BEHIND.has(table));
  const tables = ["user", ...others];
  const client = await to.connect();
  try {
    await client.query("BEGIN");
    await assertEmpty(client, tables);
    const rows: Record<string, number> = {};
    for (const table of tables) rows[`people.${table}`] = await copyTable(from, client, table);
    await client.query("COMMIT");
    return rows;
  } finally {
    client.release(true); // and with it whatever was not committed
  }
}
