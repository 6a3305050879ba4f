// The frame of dialogs that change something: a form, and a confirmation. The button carries the verb; if an action
// cannot be undone, the focus starts on Cancel.
import { Alert, Button, Group, Modal, Text, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { looksAlike } from "../../src/domain/visible-text.ts";
import type { Mutation } from "../api/change.ts";
import { dialogTexts, meanwhileTexts } from "./texts.ts";
import { Form } from "./form.tsx";
import { Icon } from "./icon.tsx";
import { type Fact, Meanwhile } from "./meanwhile.tsx";
import { useFocusBack } from "./opener.ts";

interface FrameProps {
  title: string;
  onClose: () => void;
  onSubmit: () => void;
  action: string;
  mutation: Mutation;
  disabled?: boolean;
  size?: string;
  children: ReactNode;
}

interface FormDialogProps extends FrameProps {
  /** The action is done: nothing is left to cancel. */
  done?: boolean;
  /** The current row, if someone else changed it first; the button then saves anyway. */
  now?: readonly Fact[] | null;
}

export const FormDialog = ({ now = null, action, children, ...frame }: FormDialogProps) => (
  <Frame {...frame} action={now === null ? action : meanwhileTexts.saveAnyway} quiet={now !== null}>
    {children}
    {now !== null && <Meanwhile facts={now} />}
  </Frame>
);

interface ConfirmDialogProps extends Omit<FrameProps, "onSubmit" | "disabled" | "size"> {
  /** Gets the typed reason, trimmed; blank if none is asked for. */
  onConfirm: (reason: string) => void;
  /**
   * What has to be typed before an action that is costly if done by mistake; the `id` is accepted, too, because a
   * name may be hard to type.
   */
  name?: string;
  id?: string;
  /** What to call `name`, if it is not a name. */
  typeName?: string;
  reason?: { label: string; maxLength: number; needed?: boolean };
  /** It takes nothing away: the button is not red, and gets the focus in its normal turn. */
  calm?: boolean;
}

/** The one dialog for confirming an action: the consequences, then what has to be typed, if anything. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const {
    onConfirm,
    name,
    id,
    typeName = dialogTexts.typeName,
    reason,
    calm = false,
    children,
    ...frame
  } = props;
  const [typed, setTyped] = useState("");
  const [why, setWhy] = useState("");
  const named = name === undefined || looksAlike(typed, name) || typed.trim() === id;
  const said = reason?.needed !== true || why.trim() !== "";
  const consequences =
    typeof children === "string" ? (
      <Text size="sm" className="name">
        {children}
      </Text>
    ) : (
      children
    );
  return (
    <Frame
      {...frame}
      size={name === undefined ? "md" : "lg"}
      danger={!calm}
      disabled={!named || !said}
      onSubmit={() => onConfirm(why.trim())}
    >
      {name === undefined ? consequences : <Warning>{consequences}</Warning>}
      {reason !== undefined && (
        <TextInput
          label={reason.label}
          maxLength={reason.maxLength}
          value={why}
          data-autofocus={calm || undefined}
          onChange={(event) => setWhy(event.currentTarget.value)}
        />
      )}
      {name !== undefined && (
        <TextInput
          label={
            <>
              {typeName}:{" "}
              <Text span ff="monospace" className="name">
                {name}
              </Text>
            </>
          }
          description={id !== undefined && dialogTexts.orId(id)}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
        />
      )}
    </Frame>
  );
}

const Warning = ({ children }: { children: ReactNode }) => (
  <Alert
    color="red"
    variant="light"
    icon={<Icon name="warning" />}
    styles={{ icon: { color: "var(--tone-bad)" } }}
  >
    {children}
  </Alert>
);

/** Replaces the buttons before typed input is lost. */
const Lose = ({ onClose, onStay }: { onClose: () => void; onStay: () => void }) => (
  <Group justify="space-between" gap="xs" role="alert">
    <Text size="sm">{dialogTexts.lose}</Text>
    <Group gap="xs">
      <Button variant="default" autoFocus onClick={onStay}>
        {dialogTexts.stay}
      </Button>
      <Button color="red" onClick={onClose}>
        {dialogTexts.discard}
      </Button>
    </Group>
  </Group>
);

interface Manner {
  danger?: boolean;
  done?: boolean;
  /** The error is shown elsewhere. */
  quiet?: boolean;
}

function Frame(props: FrameProps & Manner) {
  const { title, onClose, onSubmit, action, mutation, children } = props;
  const { disabled = false, size = "md", danger = false, done = false, quiet = false } = props;
  const [changed, setChanged] = useState(false);
  const [asking, setAsking] = useState(false);
  useFocusBack();
  // Escape and the close button are often hit by accident; Cancel is explicit.
  const leave = (): void => {
    if (changed && !danger && !done) setAsking(!asking);
    else onClose();
  };
  return (
    <Modal opened onClose={leave} title={title} size={size} closeOnClickOutside={!changed}>
      <Form
        onSubmit={onSubmit}
        onChanged={() => setChanged(true)}
        error={quiet ? null : mutation.error}
        actions={
          asking ? (
            <Lose onClose={onClose} onStay={() => setAsking(false)} />
          ) : (
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={onClose} data-autofocus={danger || undefined}>
                {done ? dialogTexts.close : dialogTexts.cancel}
              </Button>
              {!done && (
                <Button
                  className="names"
                  type="submit"
                  {...(danger && { color: "red" })}
                  loading={mutation.isPending}
                  disabled={disabled}
                >
                  {action}
                </Button>
              )}
            </Group>
          )
        }
      >
        {children}
      </Form>
    </Modal>
  );
}
