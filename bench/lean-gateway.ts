// The floor of the whole gateway: the smallest shell around the smallest ledger of the same durability
// (performance.md §5). A target below this floor could only be met by the runtime, the store or the disk, not by
// simplifying Tollgate's rules.
import { openLeanPostgres } from "./lean-postgres.ts";
import { openLeanSqlite } from "./lean-sqlite.ts";
import { serveLean } from "./lean-proxy.ts";

const { DIRECTORY: directory = "", DATABASE_URL: url } = process.env;
serveLean(await (url === undefined ? openLeanSqlite(directory) : openLeanPostgres(directory, url)));
