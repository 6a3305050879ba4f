// The statement of a month: its sums in one column, what the charges were for, and downloads as PDF or CSV. It is
// made on demand: a month may have a million charges.
import { Alert, Button, Code, Group, Paper, Select, Stack, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { read } from "../../api/read.ts";
import { type Answer, addressOf } from "../../api/routes.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { entryKindNames } from "../../components/entry-kinds.ts";
import { ExactMoney, Time } from "../../components/figures.tsx";
import { FileLink, Link } from "../../components/link.tsx";
import { Section } from "../../components/page.tsx";
import { Loaded, Loading } from "../../components/states.tsx";
import { month as monthFilter, useFilters } from "../../filters.ts";
import { formatCount } from "../../format/count.ts";
import { isZero } from "../../format/money.ts";
import { formatMonth, lastMonths, monthWindow, MONTHS_OFFERED } from "../../format/month.ts";
import { path } from "../../path-builder.ts";
import { referenceWords } from "./reference-words.ts";
import { statementTexts as words } from "./statement-texts.ts";

type StatementOfMonth = Answer<"GET /orgs/{org}/billing/statement">;
type Charge = StatementOfMonth["charges"][number];
type Movement = StatementOfMonth["movements"][number];

const SHAPE = { statement: monthFilter };

export function Statement({ org }: { org: string }) {
  const [{ statement: asked }, setFilters] = useFilters(SHAPE);
  const [newest = ""] = lastMonths(1);
  const isMonth = monthWindow(asked).from !== undefined;
  const month = isMonth ? asked : newest;
  return (
    <Section title={words.title}>
      <Group gap="sm" align="flex-end">
        <Select
          label={words.month}
          w={215}
          allowDeselect={false}
          data={lastMonths(MONTHS_OFFERED).map((value) => ({ value, label: formatMonth(value) }))}
          value={month}
          onChange={(value) => setFilters({ statement: value ?? "" })}
        />
        {!isMonth && (
          <Button variant="default" onClick={() => setFilters({ statement: month })}>
            {words.show}
          </Button>
        )}
        <FileLink to={addressOf("GET /orgs/{org}/billing/statement.pdf", { org }, { month })}>
          {words.pdf}
        </FileLink>
        <FileLink to={addressOf("GET /orgs/{org}/billing/statement.csv", { org }, { month })}>
          {words.csv}
        </FileLink>
      </Group>
      {isMonth && <Shown org={org} month={month} onClose={() => setFilters({ statement: "" })} />}
    </Section>
  );
}

function Shown({ org, month, onClose }: { org: string; month: string; onClose: () => void }) {
  const statement = useQuery(read("GET /orgs/{org}/billing/statement", { org }, { month }));
  return (
    <Loaded query={statement} loading={<Loading lines={1} height={300} />}>
      {(of) => (
        <Paper withBorder p="md">
          <Stack gap="md">
            <Group justify="space-between" gap="xs">
              <Text size="sm" c="dimmed">
                {of.final ? words.ended(formatMonth(of.month)) : words.runs(formatMonth(of.month))}
              </Text>
              <Button size="compact-sm" variant="subtle" onClick={onClose}>
                {words.close}
              </Button>
            </Group>
            <Sums of={of} />
            {of.movements.length > 0 && (
              <DataTable
                label={words.movements}
                rows={of.movements}
                rowKey={({ kind, source, reference }) => `${kind} ${source} ${reference}`}
                columns={movementColumns(org)}
              />
            )}
            {of.other_movements !== null && (
              <Text size="sm">
                {words.others(formatCount(of.other_movements.rows))}{" "}
                <ExactMoney usd={of.other_movements.amount_usd} />
              </Text>
            )}
            {of.charges.length > 0 && (
              <DataTable
                label={words.charges}
                rows={of.charges}
                rowKey={({ model, key }) => `${model} ${key.id}`}
                columns={COLUMNS}
              />
            )}
            {of.other_charges !== null && (
              <Text size="sm">
                {words.others(formatCount(of.other_charges.rows))}{" "}
                <ExactMoney usd={of.other_charges.amount_usd} />
              </Text>
            )}
            {of.head !== null && (
              <Text size="xs" c="dimmed" className="name">
                {words.head(formatCount(of.head.n))} <Code>{of.head.hash}</Code>
              </Text>
            )}
          </Stack>
        </Paper>
      )}
    </Loaded>
  );
}

const Sums = ({ of }: { of: StatementOfMonth }) => (
  <>
    <Table fz="sm" withRowBorders={false} verticalSpacing={2} maw={460} aria-label={words.sums}>
      <Table.Tbody>
        <Line label={words.opening} usd={of.opening_usd} />
        <Line sign="+" label={words.purchases} usd={of.purchases_usd} />
        <Line sign="+" label={words.grants} usd={of.grants_usd} />
        <Line sign="+" label={words.refunds} usd={of.refunds_usd} />
        <Line sign="−" label={words.chargesSum} usd={of.charges_usd} />
        <Line sign="−" label={words.chargebacks} usd={of.chargebacks_usd} />
        <Line sign="=" label={words.closing} usd={of.closing_usd} strong />
      </Table.Tbody>
    </Table>
    <Text size="xs" c="dimmed">
      {words.ofIt} <ExactMoney usd={of.available_usd} /> {words.available} + <ExactMoney usd={of.held_usd} />{" "}
      {words.held}
      {!isZero(of.debt_usd) && (
        <>
          {" − "}
          <ExactMoney usd={of.debt_usd} /> {words.owed}
        </>
      )}
    </Text>
    {!isZero(of.drift_usd) && (
      <Alert color="red" variant="light">
        {words.drift} <ExactMoney usd={of.drift_usd} />
      </Alert>
    )}
  </>
);

const Line = ({
  label,
  usd,
  sign = "",
  strong = false,
}: {
  label: string;
  usd: string;
  sign?: string;
  strong?: boolean;
}) => (
  <Table.Tr fw={strong ? 700 : 400}>
    <Table.Td w={16} pl={0}>
      {sign}
    </Table.Td>
    <Table.Td pl={0}>{label}</Table.Td>
    <Table.Td pr={0} ta="right">
      <ExactMoney usd={usd} />
    </Table.Td>
  </Table.Tr>
);

/** Movements other than charges; a refund names its request. */
const movementColumns = (org: string): Column<Movement>[] => [
  { title: words.at, cell: ({ at }) => <Time at={at} /> },
  { title: words.kind, always: true, cell: ({ kind }) => entryKindNames[kind] },
  {
    title: words.reference,
    wider: true,
    cell: ({ kind, source, reference, request }) => (
      <>
        <span className="name">{referenceWords(kind, `${source}: ${reference}`)}</span>
        {request !== null && (
          <Text size="xs" c="dimmed">
            {words.of}{" "}
            <Link
              to={path.organization(org, "activity")}
              search={{ req: request }}
              size="xs"
              className="name"
            >
              {request}
            </Link>
          </Text>
        )}
      </>
    ),
  },
  {
    title: words.amount,
    always: true,
    figures: true,
    cell: ({ amount_usd }) => <ExactMoney usd={amount_usd} />,
  },
];

const COLUMNS: Column<Charge>[] = [
  { title: words.model, always: true, cell: ({ model }) => <span className="name">{model}</span> },
  {
    title: words.key,
    cell: ({ key }) => (
      <span className="name" title={key.id}>
        {key.name}
      </span>
    ),
  },
  { title: words.requests, figures: true, cell: ({ requests }) => formatCount(requests) },
  {
    title: words.charge,
    always: true,
    figures: true,
    cell: ({ charge_usd }) => <ExactMoney usd={charge_usd} />,
  },
];
