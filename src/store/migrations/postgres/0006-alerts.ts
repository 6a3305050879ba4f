// Alerts on PostgreSQL: the tables of the SQLite store.
import { ALERTS_SCHEMA as TABLES } from "../0006-alerts.ts";
import { inPostgres } from "./in-postgres.ts";

export const ALERTS_SCHEMA = inPostgres(TABLES);
