// What a chart of usage shows, to the last digit.
import { type Column, DataTable } from "../../components/data-table.tsx";
import { figureTexts } from "../../components/texts.ts";
import type { UsageChart } from "./buckets.ts";
import { usageTexts as words } from "./texts.ts";

export const ChartTable = ({ of: { series, rows } }: { of: UsageChart }) => {
  const columns: Column<UsageChart["rows"][number]>[] = [
    { title: figureTexts.time, always: true, cell: ({ label }) => label },
    ...series.map(({ name }, at) => ({
      title: name,
      always: at === 0,
      figures: true,
      cell: ({ figures }: UsageChart["rows"][number]) => figures[at] ?? "",
    })),
  ];
  return <DataTable label={words.overTime} rows={rows} rowKey={({ label }) => label} columns={columns} />;
};
