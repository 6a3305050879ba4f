// Name, email address and password of a new account.
import { Button, PasswordInput, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { accountFormTexts as words } from "./texts.ts";
import type { Mutation } from "../api/change.ts";
import { Form } from "./form.tsx";

interface Account {
  name: string;
  email: string;
  password: string;
}

interface AccountFormProps {
  action: string;
  mutation: Mutation;
  onSubmit: (account: Account) => void;
  /** The address of the invitation, which cannot be changed. */
  email?: string;
  children?: ReactNode;
}

export const MINIMUM_PASSWORD = 10;

export function AccountForm({ action, mutation, onSubmit, email: invited, children }: AccountFormProps) {
  const [name, setName] = useState("");
  const [email, setEmail] = useState(invited ?? "");
  const [password, setPassword] = useState("");
  return (
    <Form
      onSubmit={() => onSubmit({ name: name.trim(), email: email.trim(), password })}
      error={mutation.error}
      actions={
        <Button
          type="submit"
          fullWidth
          loading={mutation.isPending}
          disabled={name.trim() === "" || email.trim() === "" || password.length < MINIMUM_PASSWORD}
        >
          {action}
        </Button>
      }
    >
      <TextInput
        label={words.name}
        data-field="name"
        autoComplete="name"
        required
        withAsterisk={false}
        maxLength={100}
        value={name}
        data-autofocus
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label={words.email}
        data-field="email"
        type="email"
        autoComplete="username"
        required
        withAsterisk={false}
        readOnly={invited !== undefined}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <NewPassword value={password} onChange={setPassword} />
      {children}
    </Form>
  );
}

export const NewPassword = (props: { value: string; onChange: (value: string) => void; label?: string }) => (
  <PasswordInput
    label={props.label ?? words.password}
    data-field="password"
    description={words.passwordHelp}
    autoComplete="new-password"
    required
    withAsterisk={false}
    minLength={MINIMUM_PASSWORD}
    maxLength={128}
    value={props.value}
    onChange={(event) => props.onChange(event.currentTarget.value)}
    visibilityToggleButtonProps={{ "aria-label": words.show }}
  />
);
