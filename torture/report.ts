// What a run prints: one page for people, or one JSON document.
import { plain } from "./found.ts";
import { countViolations, type Report } from "./torture.ts";

/** How many violations of one check are printed with their facts; the rest is only counted. */
const SHOWN = 3;

export function printTable(report: Report): string {
  const total = countViolations(report);
  const figures = Object.entries(report.figures);
  const checks = [...report.violations].map(([name, list]) => [name, list.length === 0 ? "ok" : list.length]);
  const violations = ["violations", total];
  const width = Math.max(...[...figures, ...checks].map(([name]) => String(name).length)) + 2;
  const printed = (rows: unknown[][]): string[] =>
    rows.map(([name, value]) => `  ${String(name).padEnd(width)}${String(value).padStart(7)}`);
  return [
    `torture  seed ${report.seed}  ${(report.ms / 60_000).toFixed(2)} minutes`,
    "",
    ...printed(figures),
    "",
    ...printed(checks),
    "",
    ...printed([violations]),
    ...(total === 0 ? [] : ["", printViolations(report)]),
  ].join("\n");
}

function printViolations({ violations, seed, ms, database, directory }: Report): string {
  const lines = [...violations].flatMap(([name, list]) => [
    ...list.slice(0, SHOWN).map(({ broken, facts }) => `${name}: ${broken}\n${indent(json(facts, 2))}`),
    ...(list.length > SHOWN ? [`${name}: ${list.length - SHOWN} more`] : []),
  ]);
  return [
    ...lines,
    `Again with the same plan: npm run torture -- ${[...flagsOf(database), `--minutes ${ms / 60_000} --seed ${seed}`].join(" ")}`,
    ...(directory === null ? [] : [`Store, settings, logs and all that was seen: ${directory}`]),
  ].join("\n");
}

function flagsOf(database: Report["database"]): string[] {
  if (database === null) return [];
  const { gateways, standby, pgbouncer = false } = database;
  return [
    `--store postgres --replicas ${gateways}`,
    ...(standby ? ["--standby"] : []),
    ...(pgbouncer ? ["--pgbouncer"] : []),
  ];
}

export const printJson = (report: Report): string => json(report);

const json = (value: unknown, space?: number): string => JSON.stringify(value, plain, space);

const indent = (text: string): string => text.replaceAll(/^/gm, "  ");
