// Where messages go: each can be tried, and removed.
import { Code } from "@mantine/core";
import { useState } from "react";
import { type AlertChannel, useRemoveChannel, useTestChannel } from "../../api/alerts.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { QuestionDialog } from "../../components/dialogs.tsx";
import { RowActs } from "../../components/row-acts.tsx";
import { Failure } from "../../components/states.tsx";
import { texts } from "../../texts.ts";

const words = texts.alerts;

interface ChannelsProps {
  org: string;
  rows: readonly AlertChannel[];
  mayChange: boolean;
}

export function Channels({ org, rows, mayChange }: ChannelsProps) {
  const test = useTestChannel(org);
  const [removed, setRemoved] = useState<AlertChannel | null>(null);
  const columns: Column<AlertChannel>[] = [
    { title: words.columns.name, always: true, cell: ({ name }) => <span className="name">{name}</span> },
    { title: words.columns.kind, cell: ({ kind }) => words.kinds[kind] },
    { title: words.columns.target, cell: ({ target }) => <Code className="name">{target ?? "–"}</Code> },
    {
      title: words.columns.actions,
      acts: true,
      always: true,
      cell: (of) =>
        mayChange && (
          <RowActs
            label={words.menu(of.name)}
            acts={[
              { label: words.test, act: () => test.mutate(of.id) },
              ...(of.kind === "dashboard" ? [] : [{ label: words.remove, act: () => setRemoved(of) }]),
            ]}
          />
        ),
    },
  ];
  return (
    <>
      {test.error !== null && <Failure error={test.error} />}
      <DataTable label={words.channels} rows={rows} rowKey={({ id }) => id} columns={columns} />
      {removed !== null && <Remove org={org} of={removed} onClose={() => setRemoved(null)} />}
    </>
  );
}

function Remove({ org, of, onClose }: { org: string; of: AlertChannel; onClose: () => void }) {
  const remove = useRemoveChannel(org, of.id, onClose);
  return (
    <QuestionDialog
      title={words.removeChannel(of.name)}
      action={words.removeChannel(of.name)}
      mutation={remove}
      onClose={onClose}
      onSubmit={() => remove.mutate(null)}
    >
      {words.removeChannelHelp}
    </QuestionDialog>
  );
}
