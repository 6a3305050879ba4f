// Stacked bars over time, in a chunk of its own because the chart library is as large as everything else. Only here
// amounts become floats, and only for the height of a bar: the table beside the chart has all digits.
import { BarChart, ChartTooltip } from "@mantine/charts";
import { ColorSwatch, Group, Text } from "@mantine/core";
import { useResizeObserver } from "@mantine/hooks";
import { memo, type SyntheticEvent, useId } from "react";
import { type BarShapeProps, Rectangle } from "recharts";
import { shortCount } from "../format/count.ts";
import { formatHeight } from "../format/money.ts";
import { alignPlaces, amountTicks, type Measured, timeTicks } from "../format/ticks.ts";
import { figureTexts } from "./texts.ts";

export interface Bucket {
  label: string;
  /** RFC 3339. */
  start: string;
  /** One height per series; null if there is nothing to show, which is not zero. */
  values: readonly (number | null)[];
}

export interface Series {
  name: string;
  colour: string;
}

/** Pixels needed, spacing included: for a line with its amount, a day or a time, a digit of an amount. */
const ROOM = { line: 26, time: 64, digit: 7.5 } as const;
/** The part of a chart's height above and below its bars. */
const AROUND = 40;
/** More lines would not be readable. */
const LINES_AT_MOST = 5;
const FORMATS: Record<Measured, (height: number) => string> = { money: formatHeight, count: shortCount };

export interface ChartProps {
  buckets: readonly Bucket[];
  /** The length of each bucket. */
  bucket: "hour" | "day";
  series: readonly Series[];
  /** Label of the current, incomplete bucket: hatched. */
  running?: string | undefined;
  /** The unit of a height, on the axis and in the tooltip. */
  measured: Measured;
  height: number;
  /** Called with the index of the clicked series; null if the click was beside the bars. */
  onPick?: ((label: string, series: number | null) => void) | undefined;
}

/** Keyed by index: two series may have the same name, and a name may be anything. */
const keyOf = (index: number): string => `series${index}`;
const placeOf = (key: string): number => Number(key.slice(keyOf(0).length - 1));

/** In the library's format: each height under the key of its series. */
const barOf = ({ label, values }: Bucket) => ({
  label,
  isZero: values.some((value) => value !== null) && values.every((value) => (value ?? 0) === 0),
  ...Object.fromEntries(values.map((value, at) => [keyOf(at), value])),
});

function Chart(props: ChartProps) {
  const { buckets, series, running, measured, height, onPick } = props;
  const hatch = useId();
  const [box, { width }] = useResizeObserver<HTMLDivElement>();
  const { amountAxis, timeAxis } = axesOf(props, width, height);
  const format = FORMATS[measured];
  const shown = series.map(({ name, colour }, index) => ({ name: keyOf(index), label: name, color: colour }));
  return (
    <div ref={box}>
      <BarChart
        h={height}
        data={buckets.map(barOf)}
        dataKey="label"
        type="stacked"
        series={shown}
        valueFormatter={format}
        tickLine="none"
        gridAxis="x"
        gridProps={{ syncWithTicks: true }}
        strokeDasharray=""
        yAxisProps={amountAxis}
        xAxisProps={timeAxis}
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
        barChartProps={{
          margin: { top: 4, right: 24, bottom: 0, left: 0 }, // right: half of the last day's label
          ...(onPick !== undefined && {
            onClick: (state: { activeLabel?: string | number | undefined }) =>
              state.activeLabel !== undefined && onPick(String(state.activeLabel), null),
            style: { cursor: "pointer" },
          }),
        }}
      >
        <Hatch id={hatch} />
      </BarChart>
      {series.length > 1 && <Legend series={series} />}
    </div>
  );
}

/**
 * Rendered again only for other bars, not for each answer and each change of the page around it: rendering is
 * expensive.
 */
export default memo(
  Chart,
  ({ buckets, series, ...before }, now) =>
    before.bucket === now.bucket &&
    before.running === now.running &&
    before.measured === now.measured &&
    before.height === now.height &&
    before.onPick === now.onPick &&
    JSON.stringify([buckets, series]) === JSON.stringify([now.buckets, now.series]),
);

/** Placed below the chart, so that its lines do not reduce the height of the bars. */
const Legend = ({ series }: Pick<ChartProps, "series">) => (
  <Group gap="xs" justify="flex-end" mt="xs" className="legend">
    {series.map(({ name, colour }) => (
      <Group key={name} gap={6} wrap="nowrap">
        <ColorSwatch
          size={10}
          withShadow={false}
          color={`var(--mantine-color-${colour.replace(".", "-")})`}
        />
        <Text size="xs" className="name">
          {name}
        </Text>
      </Group>
    ))}
  </Group>
);

/** The labels of both axes, as many as fit; until the width is known, as for a narrow chart. */
function axesOf({ buckets, bucket, measured }: ChartProps, width: number, height: number) {
  const top = Math.max(
    0,
    ...buckets.map(({ values }) => values.reduce<number>((sum, value) => sum + (value ?? 0), 0)),
  );
  const lines = Math.min(LINES_AT_MOST, Math.max(2, Math.floor((height - AROUND) / ROOM.line)));
  const ticks = amountTicks(top, lines, measured);
  const labels = alignPlaces(ticks.map(FORMATS[measured]));
  const amountWidth = Math.ceil(Math.max(...labels.map(({ length }) => length)) * ROOM.digit) + 24;
  const room = Math.max(1, Math.floor((width - amountWidth) / ROOM.time));
  const named = timeTicks(
    buckets.map(({ start }) => start),
    bucket,
    room,
  );
  const amounts = new Map(ticks.map((tick, at) => [tick, labels[at] ?? ""]));
  const times = new Map(named.map(({ at, label }) => [buckets[at]?.label ?? "", label]));
  return {
    amountAxis: {
      width: amountWidth,
      ticks,
      domain: [0, Math.max(...ticks)],
      tickFormatter: (amount: number) => amounts.get(amount) ?? FORMATS[measured](amount),
      interval: 0,
      padding: { top: 8 },
    },
    timeAxis: {
      ticks: [...times.keys()],
      tickFormatter: (label: string) => times.get(label) ?? label,
      interval: 0,
    },
  };
}

const THIN = 2;

/** A bar; if all series are zero, a thin line shows that there was something. */
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
