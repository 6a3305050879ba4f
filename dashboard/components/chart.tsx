// Stacked bars over time; a chunk of its own, because the chart library is as large as everything else. Amounts become
// floats here and only for the height of a bar: the table beside the chart has the digits.
import { BarChart } from "@mantine/charts";

export interface Bucket {
  label: string;
  /** One height per series. */
  values: readonly number[];
}

export interface ChartProps {
  buckets: readonly Bucket[];
  series: readonly string[];
  /** How a height reads at the axis and under the pointer. */
  format: (value: number) => string;
  height?: number;
  onPick?: ((label: string) => void) | undefined;
}

/** Told apart by lightness too, and never red against green. */
const COLOURS = [
  "indigo.6",
  "cyan.5",
  "grape.5",
  "yellow.5",
  "indigo.3",
  "pink.5",
  "cyan.8",
  "grape.3",
  "gray.5",
] as const;

/** By its place: two series may have one name, and a name may be anything. */
const keyOf = (index: number): string => `series${index}`;

export default function Chart({ buckets, series, format, height = 260, onPick }: ChartProps) {
  return (
    <BarChart
      h={height}
      data={buckets.map(({ label, values }) => ({
        label,
        ...Object.fromEntries(values.map((value, at) => [keyOf(at), value])),
      }))}
      dataKey="label"
      type="stacked"
      series={series.map((label, index) => ({
        name: keyOf(index),
        label,
        color: COLOURS[Math.min(index, COLOURS.length - 1)] ?? "gray.5",
      }))}
      valueFormatter={format}
      withLegend={series.length > 1}
      legendProps={{ verticalAlign: "bottom" }}
      tickLine="none"
      gridAxis="x"
      yAxisProps={{ width: 72 }}
      xAxisProps={{ minTickGap: 24 }}
      barProps={{ isAnimationActive: false, maxBarSize: 48 }}
      {...(onPick !== undefined && {
        barChartProps: {
          onClick: (state: { activeLabel?: string | number | undefined }) =>
            state.activeLabel !== undefined && onPick(String(state.activeLabel)),
          style: { cursor: "pointer" },
        },
      })}
    />
  );
}
