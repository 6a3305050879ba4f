// The alert rules of an organization: what is watched, whether it is triggered now, who is told.
import { useState } from "react";
import { useChange } from "../../api/change.ts";
import type { Row } from "../../api/routes.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { ConfirmDialog } from "../../components/dialogs.tsx";
import { Ago } from "../../components/figures.tsx";
import { RowActs } from "../../components/row-acts.tsx";
import { StateBadge } from "../../components/state-badge.tsx";
import { alertsTexts as words } from "./texts.ts";
import { conditionOf, type Names } from "./condition.ts";

type AlertRule = Row<"GET /orgs/{org}/alerts/rules">;

interface RulesProps {
  org: string;
  rows: readonly AlertRule[];
  channels: Names;
  keys: Names;
  /** Null if the person may not change rules. */
  edit: ((of: AlertRule) => void) | null;
}

export function Rules({ org, rows, channels, keys, edit }: RulesProps) {
  const [removed, setRemoved] = useState<AlertRule | null>(null);
  const columns: Column<AlertRule>[] = [
    {
      title: words.columns.rule,
      always: true,
      cell: (rule) => <span className="name sentence">{conditionOf(rule, keys)}</span>,
    },
    {
      title: words.columns.state,
      always: true,
      cell: ({ on, firing }) =>
        on ? (
          <StateBadge state={firing ? "limit" : "ok"} word={firing ? words.firing : words.quiet} />
        ) : (
          <StateBadge state="disabled" word={words.off} />
        ),
    },
    {
      title: words.columns.channels,
      cell: ({ channels: told }) => (
        <span className="name">{told.map((id) => channels.get(id) ?? id).join(", ") || words.dashboard}</span>
      ),
    },
    { title: words.columns.fired, cell: ({ last_fired_at }) => <Ago at={last_fired_at} /> },
    {
      title: words.columns.actions,
      acts: true,
      always: true,
      cell: (of) =>
        edit !== null && (
          <RowActs
            label={words.menu(conditionOf(of, keys))}
            acts={[
              { label: words.edit, act: () => edit(of) },
              { label: words.remove, act: () => setRemoved(of) },
            ]}
          />
        ),
    },
  ];
  return (
    <>
      <DataTable label={words.rules} rows={rows} rowKey={({ id }) => id} columns={columns} />
      {removed !== null && (
        <Remove
          org={org}
          of={removed}
          condition={conditionOf(removed, keys)}
          onClose={() => setRemoved(null)}
        />
      )}
    </>
  );
}

interface RemoveProps {
  org: string;
  of: AlertRule;
  condition: string;
  onClose: () => void;
}

function Remove({ org, of, condition, onClose }: RemoveProps) {
  const remove = useChange("DELETE /orgs/{org}/alerts/rules/{rule}", { org, rule: of.id }, onClose);
  return (
    <ConfirmDialog
      title={words.removeRule}
      action={words.removeRule}
      mutation={remove}
      onClose={onClose}
      onConfirm={() => remove.mutate({})}
    >
      {words.removeRuleHelp(condition)}
    </ConfirmDialog>
  );
}
