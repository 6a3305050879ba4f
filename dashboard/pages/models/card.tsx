// One model: what it costs and supports, its routes, and how to call it.
import { Badge, Button, Code, Group, Stack, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { givesWords } from "../../api/models.ts";
import type { Row } from "../../api/routes.ts";
import { CopyButton } from "../../components/copy.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Ago, Time } from "../../components/figures.tsx";
import { PageButton } from "../../components/page-button.tsx";
import { Snippets } from "../../components/snippets.tsx";
import { StateAndReason, StateBadge } from "../../components/state-badge.tsx";
import { formatCount } from "../../format/count.ts";
import { exactMoney } from "../../format/money.ts";
import { useMembership } from "../../membership.tsx";
import { classPricesOf } from "./class-prices.ts";
import { modelsTexts as words } from "./texts.ts";

type Model = Row<"GET /orgs/{org}/models">;

export const Card = ({ of }: { of: Model }) => (
  <Stack gap="sm" component="section" aria-label={of.id}>
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
      <Access of={of} />
    </Group>
    <Text size="sm">
      {givesWords(of)
        ? words.price(
            exactMoney(of.price.input_per_million),
            exactMoney(of.price.cached_input_per_million),
            exactMoney(of.price.output_per_million),
          )
        : words.vectorPrice(exactMoney(of.price.input_per_million))}
      , {words.minimum(exactMoney(of.price.request_minimum))}
    </Text>
    {classPricesOf(of.price).map((prices) => (
      <Text size="sm" key={prices}>
        {prices}
      </Text>
    ))}
    <Text size="sm" c="dimmed">
      {[
        ...(givesWords(of)
          ? [
              words.bounds(formatCount(of.context_window), formatCount(of.max_output_tokens)),
              words.defaultOutput(formatCount(of.default_output_tokens)),
            ]
          : [words.vectorBounds(formatCount(of.context_window))]),
        of.regions.length > 0 && words.regions(of.regions.join(", ")),
        of.reasoning && words.reasoning(of.reasoning.modes.join(", "), of.reasoning.default),
        ...(["tools", "images", "files", "json_schema"] as const).map((one) =>
          of[one] ? words.can[one] : null,
        ),
      ]
        .filter((one) => one !== null && one !== false)
        .join(" · ")}
    </Text>
    <DataTable label={words.routes(of.id)} rows={of.routes} rowKey={({ route }) => route} columns={ROUTES} />
    <CallCode of={of} />
  </Stack>
);

/** How a program calls it, shown on demand. */
function CallCode({ of }: { of: Model }) {
  const [shown, { toggle }] = useDisclosure(false);
  const { baseUrl } = useMembership();
  return (
    <Stack gap="xs">
      <div>
        <Button size="compact-sm" variant="default" aria-expanded={shown} onClick={toggle}>
          {words.code}
        </Button>
      </div>
      {shown && <Snippets baseUrl={baseUrl} model={of.id} vectors={!givesWords(of)} />}
    </Stack>
  );
}

function Access({ of }: { of: Model }) {
  const { may } = useMembership();
  if (of.access === "paid_workspace_required")
    return (
      <Group gap="xs">
        <Text size="sm">{words.access.paid_workspace_required}</Text>
        <PageButton size="compact-sm" variant="light" page="billing">
          {words.getPaid}
        </PageButton>
      </Group>
    );
  if (of.access === "entitlement_required")
    return (
      <Group gap="xs">
        <Text size="sm">{words.access.entitlement_required}</Text>
        {may("research.ask") && (
          <PageButton size="compact-sm" variant="light" page="research" search={{ ask: of.id }}>
            {words.getEntitled}
          </PageButton>
        )}
      </Group>
    );
  if (!givesWords(of)) return null;
  return (
    <PageButton size="compact-sm" variant="light" page="playground" search={{ model: of.id }}>
      {words.try}
    </PageButton>
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
    cell: ({ state, reason }) => <StateAndReason state={state} reason={reason} />,
  },
  { title: words.columns.release, cell: ({ release_version }) => words.version(release_version) },
  { title: words.columns.signed, cell: ({ signed_at }) => <Time at={signed_at} /> },
  { title: words.columns.expires, cell: ({ expires_at }) => <Ago at={expires_at} /> },
];
