// The floor of the ledger on SQLite alone, without HTTP (performance.md §5).
import { openLeanSqlite } from "./lean-sqlite.ts";
import { serveLeanPairs } from "./lean-pairs.ts";

serveLeanPairs(await openLeanSqlite(process.env["DIRECTORY"] ?? ""));
