// The dialog that makes a key, and the one that changes a key's name and settings.
import { Alert, Radio, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Body, Row } from "../../api/routes.ts";
import type { Mutation } from "../../api/change.ts";
import { FormDialog } from "../../components/dialogs.tsx";
import { Link } from "../../components/link.tsx";
import { Money } from "../../components/figures.tsx";
import type { Fact } from "../../components/meanwhile.tsx";
import { formatTime } from "../../format/time.ts";
import { dialogTexts } from "../../components/texts.ts";
import { path } from "../../path-builder.ts";
import { shownName } from "./state.ts";
import { isSound, sentOf, SettingsInputs, typedOf } from "./settings-form.tsx";
import { keysTexts as words } from "./texts.ts";

type Key = Row<"GET /orgs/{org}/keys">;
type KeyEdit = Body<"PATCH /orgs/{org}/keys/{key}">;

type NewKey = Body<"POST /orgs/{org}/keys">;

interface DialogProps<Value> {
  org: string;
  onClose: () => void;
  onSubmit: (value: Value) => void;
  mutation: Mutation;
}

export type Made = Pick<Key, "id" | "name">;

/** A key was made whose secret nobody has seen. */
export const LostSecret = ({ org, of }: { org: string; of: Made }) => (
  <Alert color="yellow" role="alert">
    {words.lost}{" "}
    <Link to={path.key(org, of.id)} size="sm" className="name">
      {shownName(of)}
    </Link>
  </Alert>
);

interface CreateKeyProps extends DialogProps<NewKey> {
  /** The key that this form has already made, whose secret is not shown twice. */
  lost: Made | null;
  startScope: Key["scope"];
}

export function CreateKeyDialog(props: CreateKeyProps) {
  const { org, onClose, onSubmit, mutation, lost, startScope } = props;
  const [name, setName] = useState("");
  const [scope, setScope] = useState(startScope);
  const [typed, setTyped] = useState(typedOf(null));
  return (
    <FormDialog
      title={words.create}
      onClose={onClose}
      onSubmit={() => onSubmit({ name: name.trim(), scope, ...sentOf(typed, null) })}
      action={words.create}
      mutation={mutation}
      disabled={name.trim() === "" || !isSound(typed)}
      done={lost !== null}
    >
      {lost !== null && <LostSecret org={org} of={lost} />}
      <NameInput name={name} setName={setName} />
      <Radio.Group
        label={words.scope}
        data-field="scope"
        value={scope}
        onChange={(value) => setScope(value === "research" ? "research" : "standard")}
      >
        <Stack gap="xs" mt={4}>
          <Radio value="standard" label={words.standard} description={words.standardHelp} />
          <Radio value="research" label={words.research} description={words.researchHelp} />
        </Stack>
      </Radio.Group>
      <SettingsInputs org={org} typed={typed} set={setTyped} />
    </FormDialog>
  );
}

interface EditKeyProps extends DialogProps<Omit<KeyEdit, "version">> {
  of: Key;
  /** As someone else has changed it meanwhile. */
  now: Key | null;
}

export function EditKeyDialog(props: EditKeyProps) {
  const { org, onClose, onSubmit, mutation, of, now } = props;
  const [name, setName] = useState(of.name);
  const [typed, setTyped] = useState(typedOf(of));
  // A name from before the current rules is left unchanged.
  const renamed = (name !== of.name || now !== null) && { name: name.trim() };
  return (
    <FormDialog
      title={words.editTitle(of.name)}
      onClose={onClose}
      onSubmit={() => onSubmit({ ...renamed, ...sentOf(typed, of) })}
      action={dialogTexts.save}
      mutation={mutation}
      now={now && factsOf(now)}
      disabled={name.trim() === "" || !isSound(typed)}
    >
      <Text size="sm">{words.editHelp}</Text>
      <NameInput name={name} setName={setName} />
      <SettingsInputs org={org} typed={typed} set={setTyped} />
    </FormDialog>
  );
}

const factsOf = (key: Key): Fact[] => [
  [words.name, key.name],
  [words.limit, amountOf(key.limit_usd)],
  [words.weekLimit, amountOf(key.week_limit_usd)],
  [words.dayLimit, amountOf(key.day_limit_usd)],
  [words.models, key.allowed_models?.join(", ") ?? words.modelsAll],
  [words.output, key.max_output_tokens ?? words.outputNone],
  [words.expires, key.expires_at === null ? words.expiresNever : formatTime(key.expires_at)],
];
const amountOf = (usd: string | null) => (usd === null ? words.limitNone : <Money usd={usd} />);

const NameInput = ({ name, setName }: { name: string; setName: (name: string) => void }) => (
  <TextInput
    label={words.name}
    data-field="name"
    description={words.nameHelp}
    value={name}
    maxLength={200}
    data-autofocus
    onChange={(event) => setName(event.currentTarget.value)}
  />
);
