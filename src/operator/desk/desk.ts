// The desk, put together: what the dashboard reads and notes beside the operator's use-cases.
import type { Desk } from "../../contract/desk.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Sql } from "../../store/sql.ts";
import { auditNotes } from "./audit-notes.ts";
import { keyMakers } from "./key-makers.ts";

export interface DeskPorts {
  sql: Sql;
  clock: Clock;
}

export const createDesk = ({ sql, clock }: DeskPorts): Desk => ({
  ...auditNotes(sql, clock),
  ...keyMakers(sql, clock),
});
