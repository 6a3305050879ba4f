// The columns of an audit log, for an organization and for operators.
import { Code, Stack, Text } from "@mantine/core";
import type { AppAnswer } from "../../src/contract/app.ts";
import { formatChange, formatTarget } from "../format/change.ts";
import { texts } from "../texts.ts";
import type { Column } from "./data-table.tsx";
import { Time } from "./figures.tsx";

export type AuditRow = AppAnswer<"GET /operator/audit">["data"][number];
const words = texts.operatorAudit;

export const AUDIT_COLUMNS: Column<AuditRow>[] = [
  { title: words.columns.at, always: true, cell: ({ at }) => <Time at={at} /> },
  { title: words.columns.actor, cell: ({ actor }) => actor.name ?? actor.id },
  {
    title: words.columns.action,
    always: true,
    cell: ({ action, actor }) => (
      <Stack gap={2} align="flex-start">
        <Code style={{ whiteSpace: "nowrap" }}>{action}</Code>
        <Text size="xs" c="dimmed" className="name" hiddenFrom="sm">
          {actor.name ?? actor.id}
        </Text>
      </Stack>
    ),
  },
  {
    title: words.columns.target,
    cell: ({ org, target }) => (
      <Stack gap={0}>
        <Text size="sm" className="name">
          {formatTarget(target)}
        </Text>
        <Text size="xs" c="dimmed">
          {org ?? words.platform}
        </Text>
      </Stack>
    ),
  },
  {
    title: words.columns.change,
    cell: ({ before, after }) =>
      before === null && after === null ? null : (
        <Text size="sm" className="name" title={`${before ?? "–"} → ${after ?? "–"}`}>
          {before === null ? formatChange(after) : `${formatChange(before)} → ${formatChange(after)}`}
        </Text>
      ),
  },
];
