// The catalogue: what each model costs and can, whether this organization may call it now, and what a call would cost.
import { Badge, Code, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type Model, modelsQuery } from "../../api/models.ts";
import { CopyButton } from "../../components/copy.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Ago, Time } from "../../components/figures.tsx";
import { ButtonLink } from "../../components/link.tsx";
import { Page } from "../../components/page.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { StateBadge } from "../../components/state-badge.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { text, useFilters } from "../../filters.ts";
import { formatCount } from "../../format/count.ts";
import { exactMoney } from "../../format/money.ts";
import { useMembership } from "../../membership.tsx";
import { path } from "../../path-builder.ts";
import { texts } from "../../texts.ts";
import { EstimateCard } from "./estimate.tsx";

const words = texts.models;
const SHAPE = { search: text() };

export function ModelsPage() {
  const { org } = useMembership();
  const models = useQuery(modelsQuery(org.id));
  const [{ search }, setFilters] = useFilters(SHAPE);
  return (
    <Page title={texts.pages.models} lead={words.lead}>
      <Loaded query={models}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon="models">{words.empty}</Empty>
          ) : (
            <>
              <EstimateCard org={org.id} models={data} />
              <SearchField
                label={words.search}
                w={{ base: "100%", sm: 260 }}
                value={search}
                onSearch={(wanted) => setFilters({ search: wanted }, { typed: true })}
              />
              {data
                .filter(({ id }) => id.toLowerCase().includes(search.toLowerCase()))
                .map((model) => (
                  <Card key={model.id} org={org.id} of={model} />
                ))}
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

const Card = ({ org, of }: { org: string; of: Model }) => (
  <Paper withBorder p="md" component="section" aria-label={of.id}>
    <Stack gap="sm">
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Title order={2} className="name">
            {of.id}
          </Title>
          <CopyButton text={of.id} />
          <StateBadge state={of.state} />
          <Badge variant="default" tt="none">
            {of.tier}
          </Badge>
        </Group>
        <Access org={org} of={of} />
      </Group>
      <Text size="sm">
        {words.price(
          exactMoney(of.price.input_per_million),
          exactMoney(of.price.cached_input_per_million),
          exactMoney(of.price.output_per_million),
        )}
        , {words.minimum(exactMoney(of.price.request_minimum))}
      </Text>
      <Text size="sm" c="dimmed">
        {[
          words.bounds(formatCount(of.context_window), formatCount(of.max_output_tokens)),
          of.reasoning && words.reasoning(of.reasoning.modes.join(", "), of.reasoning.default),
          ...(["tools", "images", "json_schema"] as const).map((one) => (of[one] ? words.can[one] : null)),
        ]
          .filter((one) => one !== null)
          .join(" · ")}
      </Text>
      <DataTable
        label={words.routes(of.id)}
        rows={of.routes}
        rowKey={({ route }) => route}
        columns={ROUTES}
      />
    </Stack>
  </Paper>
);

function Access({ org, of }: { org: string; of: Model }) {
  if (of.access === "paid_workspace_required")
    return (
      <Group gap="xs">
        <Text size="sm">{words.access.paid_workspace_required}</Text>
        <ButtonLink size="compact-sm" variant="light" to={path.organization(org, "billing")}>
          {words.getPaid}
        </ButtonLink>
      </Group>
    );
  if (of.access === "entitlement_required")
    return (
      <Group gap="xs">
        <Text size="sm">{words.access.entitlement_required}</Text>
        <ButtonLink size="compact-sm" variant="light" to={path.organization(org, "research")}>
          {words.getEntitled}
        </ButtonLink>
      </Group>
    );
  return (
    <ButtonLink
      size="compact-sm"
      variant="light"
      to={path.organization(org, "playground")}
      search={{ model: of.id }}
    >
      {words.try}
    </ButtonLink>
  );
}

const ROUTES: Column<Model["routes"][number]>[] = [
  {
    title: words.columns.route,
    always: true,
    cell: ({ provider, region }) => (
      <Code className="name">
        {provider} · {region}
      </Code>
    ),
  },
  {
    title: words.columns.state,
    always: true,
    cell: ({ state, reason }) => (
      <Stack gap={2} align="flex-start">
        <StateBadge state={state} />
        {reason !== null && (
          <Text size="xs" c="dimmed" className="name">
            {reason}
          </Text>
        )}
      </Stack>
    ),
  },
  { title: words.columns.release, cell: ({ release_version }) => words.version(release_version) },
  { title: words.columns.signed, cell: ({ signed_at }) => <Time at={signed_at} /> },
  { title: words.columns.expires, cell: ({ expires_at }) => <Ago at={expires_at} /> },
];
