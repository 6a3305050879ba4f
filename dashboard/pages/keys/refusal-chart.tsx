// A key's refusals over time, by code; a bar opens those requests.
import { useNavigate } from "@tanstack/react-router";
import type { Answer } from "../../api/routes.ts";
import { Figure } from "../../components/figure.tsx";
import { coloursOf } from "../../components/series-colours.ts";
import { CountTable } from "../../components/series-table.tsx";
import { figureTexts, rangeNames } from "../../components/texts.ts";
import { formatCount } from "../../format/count.ts";
import { bucketLabel } from "../../format/time.ts";
import { path } from "../../path-builder.ts";
import { keysTexts } from "./texts.ts";

const words = keysTexts.one;

interface RefusalChartProps {
  org: string;
  keyId: string;
  range: "24h" | "7d" | "30d";
  of: Answer<"GET /orgs/{org}/keys/{key}/refusals">;
}

export function RefusalChart({ org, keyId, range, of }: RefusalChartProps) {
  const navigate = useNavigate();
  const names = of.codes.map(({ code }) => code ?? words.otherCodes);
  const colours = coloursOf(names, words.otherCodes);
  const rows = of.at.map((start, at) => ({
    label: bucketLabel(start, of.bucket),
    start,
    counts: of.codes.map(({ counts }) => counts[at] ?? 0),
  }));
  const [first] = of.codes;
  return (
    <Figure
      title={`${words.refusedOverTime}, ${figureTexts.buckets[of.bucket]}`}
      summary={words.refusedSummary(
        formatCount(of.refused),
        rangeNames[range],
        first?.code ?? null,
        formatCount(first?.requests ?? 0),
      )}
      series={names.map((name, at) => ({ name, colour: colours[at] ?? "" }))}
      buckets={rows.map(({ label, start, counts }) => ({
        label,
        start,
        values: counts.map((count) => (counts.every((one) => one === 0) ? null : count)),
      }))}
      bucket={of.bucket}
      running={of.running_bucket === null ? undefined : bucketLabel(of.running_bucket, of.bucket)}
      height={150}
      measured="count"
      table={<CountTable label={words.refusedOverTime} names={names} rows={rows} />}
      onPick={(label, series) => {
        const at = rows.findIndex((row) => row.label === label);
        const from = of.at[at];
        const code = series === null ? null : (of.codes[series]?.code ?? null);
        if (from === undefined) return;
        const span = { from, to: of.at[at + 1] ?? of.to };
        void navigate({
          to: path.organization(org, "activity"),
          search: { key: keyId, state: "refused", ...span, ...(code !== null && { code }) },
        });
      }}
    />
  );
}
