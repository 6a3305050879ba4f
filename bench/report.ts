// Prints figures as a table on the terminal, and stores them as JSON together with the machine they were taken on.
import { cpus, loadavg, release, totalmem } from "node:os";
import { pinned } from "./processes.ts";
import type { Figure } from "./figure.ts";
import type { Plan } from "./plan.ts";

export interface Results {
  date: string;
  plan: Plan;
  command: string;
  machine: Record<string, string | number | boolean | null>;
  /** One-minute load average after each section. */
  loads: { after: string; loadAverage: number }[];
  /** Peers and sections that could not be measured, and why. */
  skipped: { name: string; reason: string }[];
  figures: Figure[];
}

export const describeMachine = (): Results["machine"] => ({
  cpu: cpus()[0]?.model ?? null,
  cores: cpus().length,
  memory_gb: Math.round(totalmem() / 2 ** 30),
  kernel: release(),
  bun: Bun.version,
  pinned,
  load_average_before: loadavg()[0] ?? null,
});

export function printTable(figures: Figure[]): string {
  const rows = figures.map((figure) => ({
    section: figure.section,
    cells: [
      figure.name,
      figure.peer,
      `${number(figure.spread.median)} ${figure.unit}`.trim(),
      figure.spread.samples.length > 1 ? `${number(figure.spread.q1)} – ${number(figure.spread.q3)}` : "",
      figure.goal ?? "",
      figure.met === null ? "" : figure.met ? "met" : "MISSED",
    ],
  }));
  return printRows(["figure", "peer", "median", "quartiles", "target", ""], rows);
}

/** Aligned columns below `head`; a section's title is above its first row. */
export function printRows(head: string[], rows: { section: string; cells: string[] }[]): string {
  const all = [head, ...rows.map(({ cells }) => cells)];
  const widths = head.map((_, column) => Math.max(...all.map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  const lines = [line(head)];
  let current = "";
  for (const { section, cells } of rows) {
    if (section !== current) lines.push("", section);
    current = section;
    lines.push(line(cells));
  }
  return lines.join("\n");
}

/** Four significant digits, no exponent. */
export const number = (value: number): string =>
  Math.abs(value) >= 1000 ? Math.round(value).toString() : String(Number(value.toPrecision(4)));
