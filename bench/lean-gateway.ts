// The floor of the whole gateway: the least shell around the least ledger that is as durable (performance.md §5). Whatever a
// target asks below this line is below the runtime, the store and the disk, not below Tollgate's rules.
import { openLeanPostgres } from "./lean-postgres.ts";
import { openLeanSqlite } from "./lean-sqlite.ts";
import { serveLean } from "./lean-proxy.ts";

const { DIRECTORY: directory = "", DATABASE_URL: url } = process.env;
serveLean(await (url === undefined ? openLeanSqlite(directory) : openLeanPostgres(directory, url)));
