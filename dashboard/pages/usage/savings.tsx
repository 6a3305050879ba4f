// What replays saved, and what the same tokens would have cost on other models.
import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { read } from "../../api/read.ts";
import type { Answer } from "../../api/routes.ts";
import { changeText } from "../../components/change-text.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Money } from "../../components/figures.tsx";
import { Link } from "../../components/link.tsx";
import { Section } from "../../components/page.tsx";
import { Loaded } from "../../components/states.tsx";
import { formatCount } from "../../format/count.ts";
import { heightOf } from "../../format/money.ts";
import { path } from "../../path-builder.ts";
import { usageTexts } from "./texts.ts";

const words = usageTexts.savings;

type Savings = Answer<"GET /orgs/{org}/usage/savings">;
type Elsewhere = Savings["elsewhere"][number];

export function SavingsPart({ org, asked }: { org: string; asked: Record<string, string> }) {
  const savings = useQuery(read("GET /orgs/{org}/usage/savings", { org }, asked));
  const columns: Column<Elsewhere>[] = [
    {
      title: words.model,
      always: true,
      cell: ({ model }) => (
        <Link to={path.organization(org, "models")} search={{ search: model }} size="sm" className="name">
          {model}
        </Link>
      ),
    },
    {
      title: words.cost,
      figures: true,
      always: true,
      order: ({ charge_usd }) => heightOf(charge_usd),
      cell: ({ charge_usd }) => <Money usd={charge_usd} />,
    },
    {
      title: words.against,
      figures: true,
      cell: ({ percent }) =>
        percent === null ? "–" : /[1-9]/.test(percent) ? changeText(percent) : words.same,
    },
  ];
  return (
    <Section title={words.title}>
      <Loaded query={savings}>
        {(of) => (
          <>
            <Text size="sm">
              {of.replays === 0 ? (
                words.noReplays
              ) : (
                <>
                  {words.replays(formatCount(of.replays))} {words.saved}{" "}
                  <b>
                    <Money usd={of.replayed_usd} />
                  </b>
                  .
                </>
              )}
            </Text>
            <Text size="sm" c="dimmed" maw={760}>
              {words.lead} {words.charged} <Money usd={of.used.charge_usd} />
            </Text>
            <DataTable
              label={words.title}
              rows={of.elsewhere}
              rowKey={({ model }) => model}
              columns={columns}
              none={words.none}
            />
          </>
        )}
      </Loaded>
    </Section>
  );
}
