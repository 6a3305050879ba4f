// The dialog that makes a key, and the one that changes a key's limit.
import { Radio, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { KeyJson } from "../../../src/contract/admin.ts";
import { FormDialog, type Mutation } from "../../components/dialogs.tsx";
import { amountProblem, trimAmount } from "../../format/amount.ts";
import { texts } from "../../texts.ts";

const words = texts.keys;

export interface NewKey {
  name: string;
  scope: "standard" | "research";
  limit_usd: string | null;
}

interface DialogProps<Value> {
  opened: boolean;
  onClose: () => void;
  onSubmit: (value: Value) => void;
  mutation: Mutation;
}

/** `replaced` gives the start values of a successor. */
export function CreateKeyDialog(props: DialogProps<NewKey> & { replaced: KeyJson | null }) {
  const { opened, onClose, onSubmit, mutation, replaced } = props;
  const [name, setName] = useState(replaced?.name ?? "");
  const [scope, setScope] = useState<NewKey["scope"]>(replaced?.scope ?? "standard");
  const [limit, setLimit] = useState(trimAmount(replaced?.limit_usd ?? ""));
  const problem = amountProblem(limit);
  return (
    <FormDialog
      title={replaced === null ? words.create : words.replaceTitle(replaced.name)}
      opened={opened}
      onClose={onClose}
      onSubmit={() =>
        onSubmit({ name: name.trim(), scope, limit_usd: limit.trim() === "" ? null : limit.trim() })
      }
      action={words.create}
      mutation={mutation}
      disabled={name.trim() === "" || problem !== null}
    >
      {replaced !== null && <Text size="sm">{words.replaceHelp}</Text>}
      <TextInput
        label={words.name}
        description={words.nameHelp}
        value={name}
        maxLength={200}
        data-autofocus
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Radio.Group
        label={words.scope}
        value={scope}
        onChange={(value) => setScope(value === "research" ? "research" : "standard")}
      >
        <Stack gap="xs" mt={4}>
          <Radio
            value="standard"
            label={words.standard}
            description={words.standardHelp}
            disabled={replaced !== null}
          />
          <Radio
            value="research"
            label={words.research}
            description={words.researchHelp}
            disabled={replaced !== null}
          />
        </Stack>
      </Radio.Group>
      <LimitInput limit={limit} setLimit={setLimit} />
    </FormDialog>
  );
}

export function LimitDialog(props: DialogProps<string | null> & { of: KeyJson }) {
  const { opened, onClose, onSubmit, mutation, of } = props;
  const [limit, setLimit] = useState(trimAmount(of.limit_usd ?? ""));
  return (
    <FormDialog
      title={words.editTitle(of.name)}
      opened={opened}
      onClose={onClose}
      onSubmit={() => onSubmit(limit.trim() === "" ? null : limit.trim())}
      action={texts.dialog.save}
      mutation={mutation}
      disabled={amountProblem(limit) !== null}
    >
      <Text size="sm">{words.editHelp}</Text>
      <LimitInput limit={limit} setLimit={setLimit} />
    </FormDialog>
  );
}

const LimitInput = ({ limit, setLimit }: { limit: string; setLimit: (limit: string) => void }) => (
  <TextInput
    label={words.limit}
    description={words.limitHelp}
    placeholder={words.limitNone}
    inputMode="decimal"
    leftSection="$"
    value={limit}
    error={amountProblem(limit)}
    onChange={(event) => setLimit(event.currentTarget.value)}
  />
);
