// A chart with its table beside it: the same data, one switch, and a sentence for those who see neither. Until the chart
// has arrived, its table is there.
import { Box, Group, Paper, SegmentedControl, Text, Title } from "@mantine/core";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { figureTexts } from "./texts.ts";
import type { ChartProps } from "./chart.tsx";

const Chart = lazy(() => import("./chart.tsx"));

interface FigureProps extends ChartProps {
  /** With the unit. */
  title: string;
  summary: string;
  table: ReactNode;
}

export function Figure({ title, summary, table, ...chart }: FigureProps) {
  const [shown, setShown] = useState<"chart" | "table">("chart");
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
        <Suspense fallback={table}>
          <div role="img" className="chart" aria-label={`${title}. ${summary}`}>
            <Chart {...chart} />
          </div>
        </Suspense>
      )}
    </Paper>
  );
}
