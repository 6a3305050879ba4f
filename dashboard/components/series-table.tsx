// A chart's data as a table: a row for each bucket, a column for each series.
import { formatCount } from "../format/count.ts";
import { type Column, DataTable } from "./data-table.tsx";
import { figureTexts } from "./texts.ts";

interface SeriesRow {
  label: string;
  figures: readonly string[];
}

interface SeriesTableProps {
  label: string;
  names: readonly string[];
  rows: readonly SeriesRow[];
}

export const SeriesTable = ({ label: title, names, rows }: SeriesTableProps) => {
  const columns: Column<SeriesRow>[] = [
    { title: figureTexts.time, always: true, cell: ({ label }) => label },
    ...names.map((name, at) => ({
      title: name,
      always: at === 0,
      figures: true,
      cell: ({ figures }: SeriesRow) => figures[at] ?? "",
    })),
  ];
  return <DataTable label={title} rows={rows} rowKey={({ label }) => label} columns={columns} />;
};

interface CountTableProps extends Omit<SeriesTableProps, "rows"> {
  rows: readonly { label: string; counts: readonly number[] }[];
}

/** For counts: buckets without any have no row. */
export const CountTable = ({ rows, ...shown }: CountTableProps) => (
  <SeriesTable
    {...shown}
    rows={rows
      .filter(({ counts }) => counts.some((count) => count > 0))
      .map(({ label, counts }) => ({ label, figures: counts.map((count) => formatCount(count)) }))}
  />
);
