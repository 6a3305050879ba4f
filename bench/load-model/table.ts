/** Pads columns to their widest cell; the first row is the heading. */
export function printTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  return rows.map((row) => row.map((cell, at) => cell.padStart(widths[at] ?? 0)).join("  ")).join("\n");
}
