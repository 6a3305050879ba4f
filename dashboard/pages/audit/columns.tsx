// The columns of an audit log, for an organization and for operators.
import { Code, Stack, Text } from "@mantine/core";
import type { Row } from "../../api/routes.ts";
import { formatChange, formatTarget } from "../../format/change.ts";
import { auditTexts as words } from "./texts.ts";
import type { Column } from "../../components/data-table.tsx";
import { Time } from "../../components/figures.tsx";
import { Link } from "../../components/link.tsx";

export type AuditRow = Row<"GET /operator/audit">;

/** Room for one line of digits; longer addresses wrap. */
const IPV4 = "15ch";

export const AUDIT_COLUMNS: Column<AuditRow>[] = [
  {
    title: words.columns.at,
    always: true,
    cell: ({ id, at }) => (
      <Link to="." search={(now: object) => ({ ...now, line: id })} resetScroll={false} size="sm" fw={600}>
        <Time at={at} />
      </Link>
    ),
  },
  {
    title: words.columns.actor,
    cell: ({ actor, address }) => (
      <Stack gap={0}>
        <span className="name">{actor.name ?? actor.id}</span>
        <Text size="xs" c="dimmed" className="name" miw={IPV4}>
          {address}
        </Text>
      </Stack>
    ),
  },
  {
    title: words.columns.action,
    always: true,
    cell: ({ action, actor, address }) => (
      <Stack gap={2} align="flex-start">
        <Code style={{ whiteSpace: "nowrap" }}>{action}</Code>
        <Text size="xs" c="dimmed" className="name" hiddenFrom="sm">
          {[actor.name ?? actor.id, address].filter((one) => one !== null).join(" · ")}
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
