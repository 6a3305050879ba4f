// The floor of the ledger on PostgreSQL alone, without HTTP (performance.md §5).
import { openLeanPostgres } from "./lean-postgres.ts";
import { serveLeanPairs } from "./lean-pairs.ts";

serveLeanPairs(await openLeanPostgres(process.env["DIRECTORY"] ?? "", process.env["DATABASE_URL"] ?? ""));
