// How long a migration took, and how long others waited for which table.

export interface Measured {
  version: number;
  name: string;
  tookMs: number;
  /** Table → the longest wait of a writer, in milliseconds. Empty if there can be no other writer. */
  waits: ReadonlyMap<string, number>;
}

/** A line for each migration: its time, and the table with the longest wait. */
export function printMeasured(measured: readonly Measured[]): string {
  const rows = measured.map(({ version, name, tookMs, waits }) => {
    const [longest] = [...waits].toSorted(([, a], [, b]) => b - a);
    const waited = longest === undefined ? ["", ""] : [longest[0], longest[1].toFixed(0)];
    return [String(version), name, tookMs.toFixed(0), ...waited];
  });
  const table = [["", "migration", "took ms", "waited for", "ms"], ...rows];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...table.map((row) => (row[column] ?? "").length)));
  const line = (row: string[]): string =>
    row
      .map((cell, column) =>
        column === 1 || column === 3 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  return table.map(line).join("\n");
}
