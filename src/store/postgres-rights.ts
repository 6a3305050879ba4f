// Checks that the user of a database may create what a gateway creates there: its tables, and the schema of people.
import type { ClientBase } from "pg";
import { PEOPLE_SCHEMA } from "../domain/data-files.ts";
import type { DatabaseSetting } from "./postgres-error.ts";
import { StoreFailure } from "./store-failure.ts";

/** `null`: no schema is on the search path, which the first table reports. */
interface Rights {
  schema: string | null;
  tables: boolean | null;
  /** May create the schema of people, or use the existing one. */
  people: boolean;
}

/** Throws a `StoreFailure` that names each missing right, before anything is created. */
export async function assertMayMake(client: ClientBase, named: DatabaseSetting): Promise<void> {
  const { rows } = await client.query<Rights>(
    `SELECT current_schema()::text AS schema, has_schema_privilege(current_schema(), 'CREATE') AS tables,
       CASE WHEN to_regnamespace('${PEOPLE_SCHEMA}') IS NULL
         THEN has_database_privilege(current_database(), 'CREATE')
         ELSE has_schema_privilege('${PEOPLE_SCHEMA}', 'USAGE') END AS people`,
  );
  const [rights] = rows;
  const missing = [
    ...(rights?.tables === false ? [`the schema ${rights.schema}`] : []),
    ...(rights?.people === false ? [`the database, for its schema ${PEOPLE_SCHEMA}`] : []),
  ];
  if (missing.length === 0) return;
  throw new StoreFailure(
    "rights",
    `cannot be changed by the user of ${named}`,
    `grant that user CREATE on ${missing.join(" and on ")}`,
  );
}
