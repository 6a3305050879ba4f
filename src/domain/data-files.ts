// The files of a data directory, by content. Their names also appear in the documentation and in backups.

/** The embedded store; absent if the store is PostgreSQL. */
export const STORE_FILE = "tollgate.sqlite";
/** Accounts and memberships, beside the embedded store. */
export const PEOPLE_FILE = "people.sqlite";
/** The same in PostgreSQL: a schema beside the ledger's. */
export const PEOPLE_SCHEMA = "people";
/** The key that seals stored answers and secrets. */
export const DATA_KEY_FILE = "data.key";
/** Address and token of the gateway that runs here, for the command line. */
export const OPERATOR_FILE = "operator.json";
/** Spool lines that no process could settle, kept for inspection. */
export const SPOOL_ASIDE_FILE = "spool-set-aside.txt";
