// The ledger's verification for operators: its findings, and the totals of the whole ledger.
import type * as platformShapes from "../api/shapes/platform.ts";
import type { AuditReportJson } from "../api/shapes/records.ts";
import type { z } from "zod";
import { formatUsd } from "../domain/money.ts";
import { printTime } from "../domain/print.ts";
import type { Clock } from "../lib/clock.ts";
import { readDrift } from "../registry/drift.ts";
import { exactUsd } from "../store/exact-sum.ts";
import { exactTotal, from, rowsOf, theRow } from "../store/query.ts";
import type { Sql } from "../store/sql.ts";
import { organizationNames } from "./organization-names.ts";
import { stillRuns } from "./request-time.ts";

export interface LedgerReportPorts {
  sql: Sql;
  clock: Clock;
  operator: { ledger: { verify(): Promise<AuditReportJson> } };
}

type Report = z.output<typeof platformShapes.ledgerReport>;

const LATE_SHOWN = 100;

/**
 * Verifies the whole ledger, which takes time in proportion to its size. The sums are read afterwards, so
 * they may be from a later moment.
 */
export async function reportOnLedger({ sql, clock, operator }: LedgerReportPorts): Promise<Report> {
  const startedAtMs = clock.nowMs();
  const began = performance.now();
  const report = await operator.ledger.verify();
  const owed = from.selectFrom("org_balance").select((eb) => exactTotal(eb.ref("debt")).as("sum"));
  const varied = from
    .selectFrom("ledger_entry")
    .where("kind", "=", "variance")
    .select((eb) => exactTotal(eb.ref("amount")).as("sum"));
  const names = await organizationNames(
    sql,
    [...report.violations, ...report.accepted].flatMap(({ org }) => org ?? []),
  );
  const named = (violations: AuditReportJson["violations"]): Report["violations"] =>
    violations.map((one) => ({ ...one, org_name: one.org === null ? null : (names.get(one.org) ?? null) }));
  return {
    ...report,
    violations: named(report.violations),
    accepted: named(report.accepted),
    ...(await lateHolds(sql, startedAtMs)),
    started_at: printTime(startedAtMs),
    ms: Math.round(performance.now() - began),
    drift_usd: formatUsd(await readDrift(sql)),
    variance_usd: formatUsd(exactUsd((await theRow(sql, varied)).sum)),
    debt_usd: formatUsd(exactUsd((await theRow(sql, owed)).sum)),
  };
}

/** Holds past their deadline, the latest first; a limited number of them, with the total count. */
async function lateHolds(
  sql: Sql,
  nowMs: number,
): Promise<Pick<Report, "holds_past_deadline" | "late_holds">> {
  const late = from.selectFrom("request").where(stillRuns(sql)).where("deadline_at", "<", BigInt(nowMs));
  const shown = late
    .innerJoin("organization", "organization.org_id", "request.org_id")
    .select([
      "request.request_id",
      "request.org_id",
      "organization.name",
      "hold",
      "admitted_at",
      "deadline_at",
    ])
    .orderBy("deadline_at")
    .orderBy("request.request_id")
    .limit(LATE_SHOWN);
  const { holds } = await theRow(
    sql,
    late.select((eb) => eb.fn.countAll<bigint>().as("holds")),
  );
  return {
    holds_past_deadline: Number(holds),
    late_holds: (await rowsOf(sql, shown)).map((row) => ({
      request: row.request_id,
      org: row.org_id,
      org_name: row.name,
      held_usd: formatUsd(row.hold),
      admitted_at: printTime(row.admitted_at),
      deadline_at: printTime(row.deadline_at),
    })),
  };
}
