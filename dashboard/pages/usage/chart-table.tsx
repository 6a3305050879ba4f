// What a chart of usage shows, to the last digit.
import { SeriesTable } from "../../components/series-table.tsx";
import type { UsageChart } from "./buckets.ts";
import { usageTexts as words } from "./texts.ts";

export const ChartTable = ({ of: { series, rows } }: { of: UsageChart }) => (
  <SeriesTable label={words.overTime} names={series.map(({ name }) => name)} rows={rows} />
);
