// An audit log, for an organization and for operators; a line opens in full beside it. The address names the open
// line.
import { Code, Drawer, Stack, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { read } from "../../api/read.ts";
import { formatTarget } from "../../format/change.ts";
import { text, useFilters } from "../../filters.ts";
import { auditTexts as words } from "./texts.ts";
import { AUDIT_COLUMNS, type AuditRow, OPERATOR_AUDIT_COLUMNS, Sentence as Told } from "./columns.tsx";
import { Copyable } from "../../components/copy.tsx";
import { DataTable } from "../../components/data-table.tsx";
import { Time } from "../../components/figures.tsx";
import { Sentence } from "../../components/no-match.tsx";
import { Loaded } from "../../components/states.tsx";

const SHAPE = { line: text() };

interface AuditTableProps {
  label: string;
  /** The organization of the log; null: all. A pasted link may open a line that is not on the first page. */
  org: string | null;
  rows: readonly AuditRow[];
  more: { load: () => void; loading: boolean } | undefined;
}

export function AuditTable({ label, org, rows, more }: AuditTableProps) {
  const [{ line }, set] = useFilters(SHAPE);
  return (
    <>
      <DataTable
        label={label}
        rows={rows}
        rowKey={({ id }) => id}
        columns={org === null ? OPERATOR_AUDIT_COLUMNS : AUDIT_COLUMNS}
        onOpen={({ id }) => set({ line: id })}
        more={more}
      />
      <Drawer
        opened={line !== ""}
        onClose={() => set({ line: "" })}
        position="right"
        size="lg"
        title={words.line.title}
      >
        {line !== "" && <Line org={org} id={line} row={rows.find(({ id }) => id === line)} />}
      </Drawer>
    </>
  );
}

interface LineProps {
  org: string | null;
  id: string;
  /** Undefined if it is on none of the loaded pages. */
  row: AuditRow | undefined;
}

function Line({ org, id, row }: LineProps) {
  const line =
    org === null
      ? read("GET /operator/audit", {}, { line: id })
      : read("GET /orgs/{org}/audit", { org }, { line: id });
  const asked = useQuery({ ...line, enabled: row === undefined });
  if (row !== undefined) return <Whole of={row} />;
  return (
    <Loaded query={asked}>
      {({ data: [found] }) =>
        found === undefined ? <Sentence>{words.line.unknown}</Sentence> : <Whole of={found} />
      }
    </Loaded>
  );
}

const Whole = ({ of }: { of: AuditRow }) => (
  <Stack gap="sm">
    <Told of={of} />
    <Table fz="sm" withRowBorders={false} verticalSpacing={4}>
      <Table.Tbody>
        <Fact name={words.columns.at}>
          <Time at={of.at} />
        </Fact>
        <Fact name={words.columns.actor}>
          {of.actor.name !== null && <Text size="sm">{of.actor.name}</Text>}
          <Code>{of.actor.id}</Code>
        </Fact>
        <Fact name={words.line.address}>{of.address}</Fact>
        <Fact name={words.line.request}>{of.request_id !== null && <Copyable text={of.request_id} />}</Fact>
        <Fact name={words.columns.action}>
          <Code>{of.action}</Code>
        </Fact>
        <Fact name={words.filters.org}>
          {of.org_name !== null && <Text size="sm">{of.org_name}</Text>}
          {of.org === null ? words.platform : <Code>{of.org}</Code>}
        </Fact>
        <Fact name={words.columns.target}>
          {of.target_name !== null && <Text size="sm">{of.target_name}</Text>}
          <Code>{formatTarget(of.target)}</Code>
        </Fact>
        <Fact name={words.line.before}>{of.before !== null && <Value of={of.before} />}</Fact>
        <Fact name={words.line.after}>{of.after !== null && <Value of={of.after} />}</Fact>
      </Table.Tbody>
    </Table>
    {of.address === null && (
      <Text size="xs" c="dimmed">
        {of.request_id === null ? words.line.noCall : words.line.noAddress}
      </Text>
    )}
  </Stack>
);

/** An empty value is an en dash. */
const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <Table.Tr>
    <Table.Th pl={0} scope="row" style={{ verticalAlign: "top", whiteSpace: "nowrap" }}>
      {name}
    </Table.Th>
    <Table.Td pr={0} className="name">
      {children === null || children === false ? "–" : children}
    </Table.Td>
  </Table.Tr>
);

const Value = ({ of }: { of: string }) => (
  <Code block className="name" style={{ whiteSpace: "pre-wrap" }}>
    {indented(of)}
  </Code>
);

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
