// The channels that alerts are sent to: each can be tested and removed.
import { Code } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../api/change.ts";
import type { Row } from "../../api/routes.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { ConfirmDialog } from "../../components/dialogs.tsx";
import { RowActs } from "../../components/row-acts.tsx";
import { Failure } from "../../components/states.tsx";
import { type Test, TestOutcome } from "./test-outcome.tsx";
import { alertsTexts as words } from "./texts.ts";

type AlertChannel = Row<"GET /orgs/{org}/alerts/channels">;

interface ChannelsProps {
  org: string;
  rows: readonly AlertChannel[];
  mayChange: boolean;
}

export function Channels({ org, rows, mayChange }: ChannelsProps) {
  const [error, setError] = useState<Error | null>(null);
  const [test, setTest] = useState<Test | null>(null);
  const [removed, setRemoved] = useState<AlertChannel | null>(null);
  const columns: Column<AlertChannel>[] = [
    {
      title: words.columns.name,
      always: true,
      cell: ({ name }) => (
        <span className="name clamped" title={name}>
          {name}
        </span>
      ),
    },
    { title: words.columns.kind, cell: ({ kind }) => words.kinds[kind] },
    {
      title: words.columns.target,
      cell: ({ target }) =>
        target === null ? (
          "–"
        ) : (
          <Code className="name clamped" title={target}>
            {target}
          </Code>
        ),
    },
    {
      title: words.columns.actions,
      acts: true,
      always: true,
      cell: (of) =>
        mayChange && (
          <Acts org={org} of={of} onTested={setTest} onError={setError} onRemove={() => setRemoved(of)} />
        ),
    },
  ];
  return (
    <>
      {error !== null && <Failure error={error} />}
      {test !== null && (
        <TestOutcome key={test.delivery} org={org} test={test} onClose={() => setTest(null)} />
      )}
      <DataTable label={words.channels} rows={rows} rowKey={({ id }) => id} columns={columns} />
      {removed !== null && <Remove org={org} of={removed} onClose={() => setRemoved(null)} />}
    </>
  );
}

interface ActsProps {
  org: string;
  of: AlertChannel;
  onTested: (test: Test) => void;
  onError: (error: Error | null) => void;
  onRemove: () => void;
}

function Acts({ org, of, onTested, onError, onRemove }: ActsProps) {
  const test = useChange(
    "POST /orgs/{org}/alerts/channels/{channel}/test",
    { org, channel: of.id },
    ({ id }) => onTested({ delivery: id, channel: of.name, sentAtMs: Date.now() }),
  );
  return (
    <RowActs
      label={words.menu(of.name)}
      acts={[
        { label: words.test, act: () => test.mutate({}, { onSettled: (_, error) => onError(error) }) },
        ...(of.kind === "dashboard" ? [] : [{ label: words.remove, act: onRemove }]),
      ]}
    />
  );
}

function Remove({ org, of, onClose }: { org: string; of: AlertChannel; onClose: () => void }) {
  const remove = useChange("DELETE /orgs/{org}/alerts/channels/{channel}", { org, channel: of.id }, onClose);
  return (
    <ConfirmDialog
      title={words.removeChannel(of.name)}
      action={words.removeChannel(of.name)}
      mutation={remove}
      onClose={onClose}
      onConfirm={() => remove.mutate({})}
    >
      {words.removeChannelHelp}
    </ConfirmDialog>
  );
}
