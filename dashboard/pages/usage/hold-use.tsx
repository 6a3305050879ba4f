// How much of what was held is charged, by key and model, with the output maximum that would be enough, and the keys
// that are blocked only by running holds. Shown on Usage, and for one key on its page.
import { Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { read } from "../../api/read.ts";
import type { Answer } from "../../api/routes.ts";
import { Caution } from "../../components/caution.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Money } from "../../components/figures.tsx";
import { ButtonLink, Link } from "../../components/link.tsx";
import { Section } from "../../components/page.tsx";
import { Loaded } from "../../components/states.tsx";
import { formatCount } from "../../format/count.ts";
import { formatMoney, heightOf } from "../../format/money.ts";
import { formatTime } from "../../format/time.ts";
import { path } from "../../path-builder.ts";
import { usageTexts } from "./texts.ts";

const words = usageTexts.holds;

type Holds = Answer<"GET /orgs/{org}/usage/holds">;
type Row = Holds["rows"][number];

interface HoldUseProps {
  org: string;
  /** The time range, and the key or model that it is narrowed to. */
  asked: Record<string, string>;
}

export function HoldUse({ org, asked }: HoldUseProps) {
  const holds = useQuery(read("GET /orgs/{org}/usage/holds", { org }, asked));
  return (
    <Section title={words.title}>
      <Text size="sm" c="dimmed" maw={760}>
        {words.lead}
      </Text>
      <Loaded query={holds}>
        {({ rows, blocked, cut, from }) => (
          <>
            {blocked.map((one) => (
              <Blocked key={one.key.id} org={org} of={one} />
            ))}
            <DataTable
              label={words.title}
              rows={rows}
              rowKey={({ key, model }) => JSON.stringify([key.id, model])}
              columns={columnsOf(org, asked)}
              none={words.none}
            />
            <Text size="xs" c="dimmed" maw={760}>
              {cut && `${words.since(formatTime(from))} `}
              {words.why}
            </Text>
          </>
        )}
      </Loaded>
    </Section>
  );
}

const Blocked = ({ org, of }: { org: string; of: Holds["blocked"][number] }) => (
  <Caution>
    <Group gap="xs">
      <Text size="sm" className="name">
        <b>{words.blocked(of.key.name, formatMoney(of.held_usd))}</b>
        {words.blockedBy(formatMoney(of.spent_usd), of.period, formatMoney(of.limit_usd))}
      </Text>
      <ButtonLink to={path.key(org, of.key.id)} search={{ act: "edit" }} size="compact-sm" variant="default">
        {words.raise}
      </ButtonLink>
    </Group>
  </Caution>
);

function columnsOf(org: string, asked: Record<string, string>): Column<Row>[] {
  return [
    {
      // For one key, each row is a model.
      title: asked["key"] ? words.model : words.key,
      always: true,
      cell: (row) => <NameCell of={row} org={org} asked={asked} />,
    },
    {
      title: words.requests,
      figures: true,
      wider: true,
      cell: ({ requests }) => formatCount(requests),
    },
    {
      title: words.held,
      figures: true,
      order: ({ held_usd }) => heightOf(held_usd),
      cell: ({ held_usd }) => <Money usd={held_usd} />,
    },
    {
      title: words.charged,
      figures: true,
      always: true,
      order: ({ charge_usd }) => heightOf(charge_usd),
      cell: ({ charge_usd }) => <Money usd={charge_usd} />,
    },
    {
      title: words.used,
      figures: true,
      order: ({ used_percent }) => used_percent ?? -1,
      cell: ({ used_percent }) => (used_percent === null ? "–" : `${used_percent} %`),
    },
    { title: words.bound, figures: true, wider: true, cell: ({ output_bound }) => formatCount(output_bound) },
    {
      title: words.p99,
      figures: true,
      wider: true,
      cell: ({ output_p99 }) => (output_p99 === null ? "–" : formatCount(output_p99)),
    },
    {
      title: words.suggested,
      figures: true,
      always: true,
      order: ({ suggested_max_tokens }) => suggested_max_tokens ?? -1,
      cell: (row) => <Suggestion of={row} />,
    },
  ];
}

/** Key and model, with a link to their requests. */
const NameCell = ({ of: { key, model }, org, asked }: { of: Row } & HoldUseProps) => (
  <Stack miw={110} gap={0} align="flex-start">
    <Link
      to={path.organization(org, "activity")}
      search={{ ...asked, key: key.id, model, state: "settled" }}
      size="sm"
      className="name"
    >
      {asked["key"] ? model : key.name}
    </Link>
    {!asked["key"] && (
      <Text size="xs" c="dimmed" className="name">
        {model}
      </Text>
    )}
  </Stack>
);

/** The output maximum that would be enough, and what it would free. */
const Suggestion = ({ of: { suggested_max_tokens: suggested, frees_usd: frees } }: { of: Row }) =>
  suggested === null ? (
    "–"
  ) : (
    <>
      <b>{formatCount(suggested)}</b>
      {frees !== null && (
        <Text size="xs" c="dimmed" component="div" style={{ whiteSpace: "normal" }}>
          {words.frees(formatMoney(frees))}
        </Text>
      )}
    </>
  );
