// A chart and its table with the same data, one switch, and a summary sentence for those who can see neither. Until
// the chart has loaded, its place is reserved, so that nothing below it moves, and its table is there for screen
// readers.
import { Box, Group, Paper, SegmentedControl, Skeleton, Text, Title, VisuallyHidden } from "@mantine/core";
import { lazy, type ReactNode, Suspense, useLayoutEffect, useRef, useState } from "react";
import { loadPart } from "../load-part.ts";
import { figureTexts } from "./texts.ts";
import type { ChartProps } from "./chart.tsx";

const Chart = lazy(() => loadPart(() => import("./chart.tsx")));
/** One line of names below a chart of several series. */
const LEGEND_HEIGHT = 34;

/** The default height of a chart. */
const USUAL_HEIGHT = 260;

interface FigureProps extends Omit<ChartProps, "height"> {
  height?: number;
  /** With the unit. */
  title: string;
  summary: string;
  table: ReactNode;
}

export function Figure({ title, summary, table, height = USUAL_HEIGHT, onPick, ...chart }: FigureProps) {
  const [shown, setShown] = useState<"chart" | "table">("chart");
  const latest = useRef(onPick);
  useLayoutEffect(() => {
    latest.current = onPick;
  });
  // A stable reference: the chart is not rendered again when only the click handler changes.
  const [pick] = useState(
    () =>
      (...picked: Parameters<NonNullable<typeof onPick>>) =>
        latest.current?.(...picked),
  );
  return (
    <Paper withBorder p="md">
      <Group justify="space-between" mb="sm" gap="xs">
        <Box miw={0} flex="1 1 16rem">
          <Title order={2}>{title}</Title>
          <Text size="sm" c="dimmed">
            {summary}
          </Text>
        </Box>
        <SegmentedControl
          size="xs"
          aria-label={figureTexts.view}
          value={shown}
          onChange={(value) => setShown(value === "table" ? "table" : "chart")}
          data={[
            { value: "chart", label: figureTexts.chart },
            { value: "table", label: figureTexts.table },
          ]}
        />
      </Group>
      {shown === "table" ? (
        table
      ) : (
        <Suspense
          fallback={
            <>
              <Skeleton height={height + (chart.series.length > 1 ? LEGEND_HEIGHT : 0)} />
              <VisuallyHidden>{table}</VisuallyHidden>
            </>
          }
        >
          <div role="img" className="chart" aria-label={`${title}. ${summary}`}>
            <Chart {...chart} height={height} onPick={onPick && pick} />
          </div>
        </Suspense>
      )}
    </Paper>
  );
}
