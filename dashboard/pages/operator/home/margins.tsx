// The margin by model, if a list price is known; otherwise the reason why not.
import { Text } from "@mantine/core";
import type { Answer } from "../../../api/routes.ts";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Money } from "../../../components/figures.tsx";
import { Section } from "../../../components/page.tsx";
import { operatorHomeTexts as words } from "./texts.ts";

type Margin = Answer<"GET /operator/home/margin">;
type OfModel = Margin["models"][number];

export const ModelMargins = ({ of }: { of: Margin }) => (
  <Section title={words.marginByModel}>
    <Text size="sm" c="dimmed">
      {words.marginLead(of.source)}
    </Text>
    <DataTable
      label={words.marginByModel}
      rows={of.models}
      rowKey={({ model }) => model}
      columns={COLUMNS}
      none={words.noUse}
    />
    {whyNot(of.models).map((why) => (
      <Text key={why} size="xs" c="dimmed" className="name">
        {why}
      </Text>
    ))}
  </Section>
);

export const marginText = (margin: Margin["margin_percent"]): string =>
  margin === null ? "–" : words.between(`${margin.least} %`, `${margin.most} %`);

/** The distinct reasons for models without a known margin. */
const whyNot = (models: readonly OfModel[]): string[] =>
  [...Map.groupBy(models, ({ unknown }) => unknown)].flatMap(([unknown, ofIt]) =>
    unknown === null
      ? []
      : [words.notKnown(ofIt.map(({ model }) => model).join(", "), words.unknown[unknown])],
  );

const COLUMNS: Column<OfModel>[] = [
  { title: words.columns.model, always: true, cell: ({ model }) => <span className="name">{model}</span> },
  { title: words.columns.charged, figures: true, cell: ({ charge_usd }) => <Money usd={charge_usd} /> },
  {
    title: words.columns.cost,
    figures: true,
    cell: ({ list_cost_usd: cost }) =>
      cost === null ? (
        "–"
      ) : cost.least === cost.most ? (
        <Money usd={cost.most} />
      ) : (
        <>
          <Money usd={cost.least} /> – <Money usd={cost.most} />
        </>
      ),
  },
  {
    title: words.columns.margin,
    figures: true,
    always: true,
    cell: ({ margin_percent, unknown }) =>
      unknown === null ? marginText(margin_percent) : <span title={words.unknown[unknown]}>–</span>,
  },
];
