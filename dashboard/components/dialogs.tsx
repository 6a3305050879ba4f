// Dialogs that change something: a form, and a confirmation that asks to type the name. Focus starts on Cancel where
// the act cannot be undone; the button carries the verb.
import { Alert, Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { texts } from "../texts.ts";
import { Failure } from "./states.tsx";
import { Icon } from "./icon.tsx";
import { type Fact, Meanwhile } from "./meanwhile.tsx";

export interface Mutation {
  isPending: boolean;
  error: unknown;
}

interface FormDialogProps {
  title: string;
  opened: boolean;
  onClose: () => void;
  onSubmit: () => void;
  action: string;
  mutation: Mutation;
  disabled?: boolean;
  /** The act is done: nothing is left to cancel. */
  done?: boolean;
  size?: string;
  /** Of the row as it is now, where somebody else was faster; the button then saves anyway. */
  now?: readonly Fact[] | null;
  children: ReactNode;
}

export function FormDialog(props: FormDialogProps) {
  const {
    title,
    opened,
    onClose,
    onSubmit,
    action,
    mutation,
    disabled = false,
    done = false,
    size = "md",
    now = null,
    children,
  } = props;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <Modal opened={opened} onClose={onClose} title={title} size={size}>
      <form onSubmit={submit}>
        <Stack gap="md">
          {children}
          {now !== null && <Meanwhile facts={now} />}
          {now === null && mutation.error !== null && mutation.error !== undefined && (
            <Failure error={mutation.error} />
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {done ? texts.dialog.close : texts.dialog.cancel}
            </Button>
            {!done && (
              <Button className="names" type="submit" loading={mutation.isPending} disabled={disabled}>
                {now === null ? action : texts.meanwhile.saveAnyway}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

interface QuestionDialogProps
  extends Pick<FormDialogProps, "title" | "onClose" | "onSubmit" | "action" | "mutation"> {
  children: ReactNode;
}

/** Asks once more where a slip costs little: the focus starts on Cancel, nothing has to be typed. */
export const QuestionDialog = ({
  title,
  onClose,
  onSubmit,
  action,
  mutation,
  children,
}: QuestionDialogProps) => (
  <Modal opened onClose={onClose} title={title}>
    <Stack gap="md">
      <Text size="sm" className="name">
        {children}
      </Text>
      {mutation.error !== null && mutation.error !== undefined && <Failure error={mutation.error} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose} data-autofocus>
          {texts.dialog.cancel}
        </Button>
        <Button className="names" color="red" loading={mutation.isPending} onClick={onSubmit}>
          {action}
        </Button>
      </Group>
    </Stack>
  </Modal>
);

interface ConfirmDialogProps extends Omit<FormDialogProps, "done" | "now" | "size"> {
  /** What has to be typed. */
  name: string;
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, opened, onClose, onSubmit, action, mutation, disabled = false, name, children } = props;
  const [typed, setTyped] = useState("");
  const matches = typed.trim() === name.trim() && !disabled;
  const close = (): void => {
    setTyped("");
    onClose();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (matches) onSubmit();
  };
  return (
    <Modal opened={opened} onClose={close} title={title} size="lg">
      <form onSubmit={submit}>
        <Stack gap="md">
          <Alert
            color="red"
            variant="light"
            icon={<Icon name="warning" />}
            styles={{ icon: { color: "var(--tone-bad)" } }}
          >
            {children}
          </Alert>
          <TextInput
            label={
              <>
                {texts.dialog.typeName}:{" "}
                <Text span ff="monospace" className="name">
                  {name}
                </Text>
              </>
            }
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
          />
          {mutation.error !== null && mutation.error !== undefined && <Failure error={mutation.error} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close} data-autofocus>
              {texts.dialog.cancel}
            </Button>
            <Button
              className="names"
              type="submit"
              color="red"
              loading={mutation.isPending}
              disabled={!matches}
            >
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
