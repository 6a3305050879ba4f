// One entry of the ledger: what it moved, the requests that it covers, each with its drawer and its receipt, and the
// hashes that chain it.
import { Anchor, Code, Drawer, Group, Stack, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { read } from "../../api/read.ts";
import { type Answer, addressOf } from "../../api/routes.ts";
import { ExactMoney, Time } from "../../components/figures.tsx";
import { ButtonLink, Link } from "../../components/link.tsx";
import { Loaded } from "../../components/states.tsx";
import { entryKindNames } from "../../components/entry-kinds.ts";
import { formatCount } from "../../format/count.ts";
import { path } from "../../path-builder.ts";
import { entryWords } from "./reference-words.ts";
import { entryTexts as words } from "./entry-texts.ts";

type Detail = Answer<"GET /orgs/{org}/billing/ledger/{entry}">;

interface EntryDrawerProps {
  org: string;
  /** Empty: closed. */
  entry: string;
  onClose: () => void;
}

export const EntryDrawer = ({ org, entry, onClose }: EntryDrawerProps) => (
  <Drawer
    opened={entry !== ""}
    onClose={onClose}
    position="right"
    size="lg"
    title={words.title(/^\d+$/.test(entry) ? formatCount(Number(entry)) : entry)}
  >
    {entry !== "" && <Shown org={org} entry={entry} />}
  </Drawer>
);

function Shown({ org, entry }: { org: string; entry: string }) {
  const detail = useQuery(read("GET /orgs/{org}/billing/ledger/{entry}", { org, entry }));
  return (
    <Loaded query={detail}>
      {(found) => (
        <Stack gap="lg">
          <Moved of={found} />
          {found.entry.requests > 0 && <Requests org={org} of={found} />}
          {found.about !== null && (
            <Text size="sm">
              {words.about}{" "}
              <Link to={path.organization(org, "activity")} search={{ req: found.about }} className="name">
                {found.about}
              </Link>
            </Text>
          )}
          <Chain org={org} of={found} />
        </Stack>
      )}
    </Loaded>
  );
}

const Moved = ({ of: { entry, balance_usd } }: { of: Detail }) => (
  <Table fz="sm" withRowBorders={false} verticalSpacing={2} aria-label={words.moved}>
    <Table.Tbody>
      <Line label={words.at}>
        <Time at={entry.at} />
      </Line>
      <Line label={words.kind}>{kindName(entry.kind)}</Line>
      <Line label={words.accounts}>{`${entry.debit} → ${entry.credit}`}</Line>
      <Line label={words.amount}>
        <ExactMoney usd={entry.amount_usd} />
      </Line>
      <Line label={words.available}>
        <ExactMoney usd={entry.available_before_usd} /> → <ExactMoney usd={entry.available_after_usd} />
      </Line>
      <Line label={words.held}>
        <ExactMoney usd={entry.held_before_usd} /> → <ExactMoney usd={entry.held_after_usd} />
      </Line>
      <Line label={words.balance}>
        <ExactMoney usd={balance_usd} />
      </Line>
      {entry.requests === 0 && entryWords(entry) !== "" && (
        <Line label={words.reference}>{entryWords(entry)}</Line>
      )}
    </Table.Tbody>
  </Table>
);

const kindName = (kind: string): string =>
  Object.entries(entryKindNames).find(([name]) => name === kind)?.[1] ?? kind;

const Line = ({ label, children }: { label: string; children: React.ReactNode }) => (
  <Table.Tr>
    <Table.Td pl={0}>{label}</Table.Td>
    <Table.Td pr={0} ta="right" className="name">
      {children}
    </Table.Td>
  </Table.Tr>
);

const Requests = ({ org, of: { entry, parts, complete } }: { org: string; of: Detail }) => (
  <Stack gap={6} component="section" aria-label={words.requests(formatCount(entry.requests))}>
    <Title order={3} size="h5">
      {words.requests(formatCount(entry.requests))}
    </Title>
    <Table fz="sm" verticalSpacing={4}>
      <Table.Tbody>
        {parts.map(({ request, amount_usd, model, key }) => (
          <Table.Tr key={request}>
            <Table.Td pl={0} className="name">
              <Link to={path.organization(org, "activity")} search={{ req: request }} size="sm">
                {request}
              </Link>
              <Text size="xs" c="dimmed">
                {model} · {key.name} ·{" "}
                <Anchor
                  size="xs"
                  href={addressOf("GET /orgs/{org}/activity/{request}/receipt", { org, request })}
                  download={`receipt-${request}.json`}
                >
                  {words.receipt}
                </Anchor>
              </Text>
            </Table.Td>
            <Table.Td pr={0} ta="right" valign="top">
              <ExactMoney usd={amount_usd} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
    {!complete && (
      <Text size="xs" c="dimmed">
        {words.incomplete}
      </Text>
    )}
  </Stack>
);

const Chain = ({ org, of: { entry, newest } }: { org: string; of: Detail }) => (
  <Stack gap={6} component="section" aria-label={words.chain}>
    <Title order={3} size="h5">
      {words.chain}
    </Title>
    <Text size="xs" c="dimmed" className="name">
      {words.before} <Code>{entry.prev_hash}</Code>
    </Text>
    <Text size="xs" c="dimmed" className="name">
      {words.hash} <Code>{entry.hash}</Code>
    </Text>
    <Group gap="xs">
      {entry.n > 1 && (
        <ButtonLink
          to={path.organization(org, "billing")}
          search={(now: Record<string, unknown>) => ({ ...now, entry: String(entry.n - 1) })}
          variant="default"
          size="compact-sm"
        >
          {words.former}
        </ButtonLink>
      )}
      {entry.n < newest && (
        <ButtonLink
          to={path.organization(org, "billing")}
          search={(now: Record<string, unknown>) => ({ ...now, entry: String(entry.n + 1) })}
          variant="default"
          size="compact-sm"
        >
          {words.next}
        </ButtonLink>
      )}
    </Group>
  </Stack>
);
