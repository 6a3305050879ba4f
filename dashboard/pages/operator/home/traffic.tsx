// Requests of all organizations by the hour, with the table beside the chart.
import type { Answer } from "../../../api/routes.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Figure } from "../../../components/figure.tsx";
import { Money } from "../../../components/figures.tsx";
import { formatCount } from "../../../format/count.ts";
import { formatMoney } from "../../../format/money.ts";
import { bucketLabel } from "../../../format/time.ts";
import { operatorHomeTexts as words } from "./texts.ts";

type TrafficNow = Answer<"GET /operator/home/traffic">;
type Hour = TrafficNow["hours"][number];

export function Traffic({ of }: { of: TrafficNow }) {
  const last = of.hours.at(-1);
  return (
    <Figure
      title={words.traffic}
      summary={words.trafficSummary(formatCount(of.now.requests), formatMoney(of.now.charge_usd))}
      measured="count"
      bucket="hour"
      height={200}
      series={[{ name: words.trafficSeries, colour: "indigo.6" }]}
      buckets={of.hours.map(({ at, requests }) => ({
        label: bucketLabel(at, "hour"),
        start: at,
        values: [requests],
      }))}
      running={last === undefined ? undefined : bucketLabel(last.at, "hour")}
      table={
        <DataTable
          label={words.traffic}
          rows={of.hours.toReversed()}
          rowKey={({ at }) => at}
          columns={COLUMNS}
        />
      }
    />
  );
}

const COLUMNS: Column<Hour>[] = [
  { title: words.hour, always: true, cell: ({ at }) => bucketLabel(at, "hour") },
  {
    title: words.columns.requests,
    figures: true,
    always: true,
    cell: ({ requests }) => formatCount(requests),
  },
  { title: words.columns.charged, figures: true, cell: ({ charge_usd }) => <Money usd={charge_usd} /> },
];
