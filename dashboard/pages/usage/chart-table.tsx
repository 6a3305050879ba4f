// The data of a usage chart, to the last digit.
import { SeriesTable } from "../../components/series-table.tsx";
import type { UsageChart } from "./buckets.ts";
import { usageTexts as words } from "./texts.ts";

export const ChartTable = ({ of: { series, rows } }: { of: UsageChart }) => (
  <SeriesTable label={words.overTime} names={series.map(({ name }) => name)} rows={rows} />
);
