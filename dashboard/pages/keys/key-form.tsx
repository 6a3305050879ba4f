// The dialog that makes a key, and the one that changes a key's name and limit.
import { Alert, Radio, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Body, Row } from "../../api/routes.ts";
import type { Mutation } from "../../api/change.ts";
import { FormDialog } from "../../components/dialogs.tsx";
import { Money } from "../../components/figures.tsx";
import type { Fact } from "../../components/meanwhile.tsx";
import { amountProblem, trimAmount } from "../../format/amount.ts";
import { dialogTexts } from "../../components/texts.ts";
import { keysTexts as words } from "./texts.ts";

type Key = Row<"GET /orgs/{org}/keys">;
type KeyEdit = Body<"PATCH /orgs/{org}/keys/{key}">;

interface NewKey {
  name: string;
  scope: "standard" | "research";
  limit_usd: string | null;
}

interface DialogProps<Value> {
  onClose: () => void;
  onSubmit: (value: Value) => void;
  mutation: Mutation;
}

interface CreateKeyProps extends DialogProps<NewKey> {
  /** The same form had made its key already, so there is no secret to show. */
  shownBefore: boolean;
  startScope: NewKey["scope"];
}

export function CreateKeyDialog(props: CreateKeyProps) {
  const { onClose, onSubmit, mutation, shownBefore, startScope } = props;
  const [name, setName] = useState("");
  const [scope, setScope] = useState(startScope);
  const [limit, setLimit] = useState("");
  const problem = amountProblem(limit);
  return (
    <FormDialog
      title={words.create}
      onClose={onClose}
      onSubmit={() =>
        onSubmit({ name: name.trim(), scope, limit_usd: limit.trim() === "" ? null : limit.trim() })
      }
      action={words.create}
      mutation={mutation}
      disabled={name.trim() === "" || problem !== null || shownBefore}
    >
      {shownBefore && <Alert color="yellow">{words.replayed}</Alert>}
      <NameInput name={name} setName={setName} />
      <Radio.Group
        label={words.scope}
        value={scope}
        onChange={(value) => setScope(value === "research" ? "research" : "standard")}
      >
        <Stack gap="xs" mt={4}>
          <Radio value="standard" label={words.standard} description={words.standardHelp} />
          <Radio value="research" label={words.research} description={words.researchHelp} />
        </Stack>
      </Radio.Group>
      <LimitInput limit={limit} setLimit={setLimit} />
    </FormDialog>
  );
}

interface EditKeyProps extends DialogProps<Omit<KeyEdit, "version">> {
  of: Key;
  /** As somebody else has left it meanwhile. */
  now: Key | null;
}

export function EditKeyDialog(props: EditKeyProps) {
  const { onClose, onSubmit, mutation, of, now } = props;
  const [name, setName] = useState(of.name);
  const [limit, setLimit] = useState(trimAmount(of.limit_usd ?? ""));
  return (
    <FormDialog
      title={words.editTitle(of.name)}
      onClose={onClose}
      onSubmit={() => onSubmit({ name: name.trim(), limit_usd: limit.trim() === "" ? null : limit.trim() })}
      action={dialogTexts.save}
      mutation={mutation}
      now={now && factsOf(now)}
      disabled={name.trim() === "" || amountProblem(limit) !== null}
    >
      <Text size="sm">{words.editHelp}</Text>
      <NameInput name={name} setName={setName} />
      <LimitInput limit={limit} setLimit={setLimit} />
    </FormDialog>
  );
}

const factsOf = ({ name, limit_usd }: Key): Fact[] => [
  [words.name, name],
  [words.limit, limit_usd === null ? words.limitNone : <Money usd={limit_usd} />],
];

const NameInput = ({ name, setName }: { name: string; setName: (name: string) => void }) => (
  <TextInput
    label={words.name}
    description={words.nameHelp}
    value={name}
    maxLength={200}
    data-autofocus
    onChange={(event) => setName(event.currentTarget.value)}
  />
);

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
