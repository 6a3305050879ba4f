// Stacked bars over time; a chunk of its own, because the chart library is as large as everything else. Amounts become
// floats here and only for the height of a bar: the table beside the chart has the digits.
import { BarChart, ChartTooltip } from "@mantine/charts";
import { type SyntheticEvent, useId } from "react";
import { type BarShapeProps, Rectangle } from "recharts";
import { figureTexts } from "./texts.ts";

export interface Bucket {
  label: string;
  /** One height per series; null where there is nothing to show, which is not zero. */
  values: readonly (number | null)[];
}

export interface Series {
  name: string;
  colour: string;
}

/** In pixels: below this a chart has no room for more than three lines. */
const LOW = 200;

export interface ChartProps {
  buckets: readonly Bucket[];
  series: readonly Series[];
  /** Label of the bucket that is not over: hatched. */
  running?: string | undefined;
  /** How a height reads at the axis and under the pointer. */
  format: (value: number) => string;
  height?: number;
  /** With the place of the series whose bar was clicked; null beside the bars. */
  onPick?: ((label: string, series: number | null) => void) | undefined;
}

/** By its place: two series may have one name, and a name may be anything. */
const keyOf = (index: number): string => `series${index}`;
const placeOf = (key: string): number => Number(key.slice(keyOf(0).length - 1));

export default function Chart({ buckets, series, running, format, height = 260, onPick }: ChartProps) {
  const hatch = useId();
  const shown = series.map(({ name, colour }, index) => ({ name: keyOf(index), label: name, color: colour }));
  return (
    <BarChart
      h={height}
      data={buckets.map(({ label, values }) => ({
        label,
        isZero: values.some((value) => value !== null) && values.every((value) => (value ?? 0) === 0),
        ...Object.fromEntries(values.map((value, at) => [keyOf(at), value])),
      }))}
      dataKey="label"
      type="stacked"
      series={shown}
      valueFormatter={format}
      withLegend={series.length > 1}
      legendProps={{ verticalAlign: "bottom" }}
      tickLine="none"
      gridAxis="x"
      yAxisProps={{ width: 96, tickCount: height < LOW ? 3 : 5, interval: 0, padding: { top: 8 } }}
      xAxisProps={{ minTickGap: 24 }}
      tooltipProps={{
        content: ({ label, payload }) => (
          <ChartTooltip
            label={label === running ? figureTexts.soFar(String(label)) : label}
            payload={payload}
            series={shown}
            valueFormatter={format}
          />
        ),
      }}
      barProps={({ name }) => ({
        isAnimationActive: false,
        maxBarSize: 48,
        ...(onPick !== undefined && {
          onClick: (bar: { payload?: { label: string } }, _: number, event: SyntheticEvent) => {
            event.stopPropagation(); // the chart around it knows no series
            if (bar.payload !== undefined) onPick(bar.payload.label, placeOf(name));
          },
        }),
        shape: (bar: BarShapeProps) => (
          <Bar
            bar={bar}
            first={name === keyOf(0)}
            mask={(bar.payload as { label: string }).label === running ? `url(#${hatch})` : undefined}
          />
        ),
      })}
      {...(onPick !== undefined && {
        barChartProps: {
          onClick: (state: { activeLabel?: string | number | undefined }) =>
            state.activeLabel !== undefined && onPick(String(state.activeLabel), null),
          style: { cursor: "pointer" },
        },
      })}
    >
      <Hatch id={hatch} />
    </BarChart>
  );
}

const THIN = 2;

/** A bar; where all series came to zero, a thin line says that there was something. */
function Bar({ bar, first, mask }: { bar: BarShapeProps; first: boolean; mask: string | undefined }) {
  const { isZero } = bar.payload as { isZero: boolean };
  if (!isZero) return <Rectangle {...bar} {...(mask !== undefined && { mask })} />;
  if (!first) return null;
  return (
    <rect
      className="zero-bar"
      x={bar.x}
      y={Number(bar.y) - THIN}
      width={bar.width}
      height={THIN}
      fill="var(--mantine-color-dimmed)"
    />
  );
}

const Hatch = ({ id }: { id: string }) => (
  <defs>
    <pattern
      id={`${id}stripes`}
      width="6"
      height="6"
      patternUnits="userSpaceOnUse"
      patternTransform="rotate(45)"
    >
      <rect width="3" height="6" fill="#fff" />
      <rect x="3" width="3" height="6" fill="#666" />
    </pattern>
    <mask id={id} maskUnits="userSpaceOnUse" x="0" y="0" width="100%" height="100%">
      <rect width="100%" height="100%" fill={`url(#${id}stripes)`} />
    </mask>
  </defs>
);
