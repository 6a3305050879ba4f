// The files of a data directory, by what they hold. Their names are also in the documentation and in backups.

/** The embedded store; none where the store is PostgreSQL. */
export const STORE_FILE = "tollgate.sqlite";
/** Accounts and memberships, beside the embedded store. */
export const PEOPLE_FILE = "people.sqlite";
/** What stored answers and secrets are sealed with. */
export const DATA_KEY_FILE = "data.key";
/** Address and token of the gateway that runs here, for the command line. */
export const OPERATOR_FILE = "operator.json";
/** Lines of the spool that no process could settle; kept for whoever looks into it. */
export const SPOOL_ASIDE_FILE = "spool-set-aside.txt";
