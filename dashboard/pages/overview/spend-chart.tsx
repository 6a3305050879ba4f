// Spend by model over the range, compared with the range before.
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { TimeRange } from "../../../src/domain/usage-words.ts";
import { read } from "../../api/read.ts";
import type { Answer } from "../../api/routes.ts";
import { changeText } from "../../components/change-text.ts";
import { Figure } from "../../components/figure.tsx";
import { Loading, Trouble } from "../../components/states.tsx";
import { formatMoney } from "../../format/money.ts";
import { formatDay } from "../../format/time.ts";
import { path } from "../../path-builder.ts";
import { usageChartOf } from "../usage/buckets.ts";
import { ChartTable } from "../usage/chart-table.tsx";
import { overviewTexts as words } from "./texts.ts";

interface SpendChartProps {
  org: string;
  range: TimeRange;
  of: Answer<"GET /orgs/{org}/overview">;
}

const HEIGHT = 220;

export function SpendChart({ org, range, of: { spend, before_from } }: SpendChartProps) {
  const navigate = useNavigate();
  const usage = useQuery({
    ...read("GET /orgs/{org}/usage", { org }, { range, group_by: "model" }),
    refetchInterval: 60_000,
  });
  const { data } = usage;
  if (data === undefined)
    return usage.isPending ? <Loading lines={1} height={HEIGHT} /> : <Trouble query={usage} />;
  if (data.total.requests === 0) return null;
  const chart = usageChartOf(data, "charge_usd");
  return (
    <Figure
      title={words.spendByModel}
      summary={words.spendSummary(
        formatMoney(spend.charge_usd),
        spend.percent === null
          ? words.nothingBefore
          : words.against(changeText(spend.percent), formatMoney(spend.before_usd), formatDay(before_from)),
      )}
      series={chart.series}
      buckets={chart.buckets}
      bucket={data.bucket}
      running={chart.running}
      measured="money"
      height={HEIGHT}
      table={<ChartTable of={chart} />}
      onPick={(label, series) => {
        const at = data.at.indexOf(chart.startOf.get(label) ?? "");
        const from = data.at[at];
        const model = series === null ? null : (chart.groups[series]?.group ?? null);
        if (from !== undefined)
          void navigate({
            to: path.organization(org, "activity"),
            search: { from, to: data.at[at + 1] ?? data.to, ...(model !== null && { model }) },
          });
      }}
    />
  );
}
