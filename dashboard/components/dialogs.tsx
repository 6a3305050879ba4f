// Dialogs that change something, in one frame: a form, and a question that is confirmed. The button carries the verb;
// where an act cannot be undone, the focus starts on Cancel.
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
  /** The act is done: nothing is left to cancel. */
  done?: boolean;
  /** Of the row as it is now, where somebody else was faster; the button then saves anyway. */
  now?: readonly Fact[] | null;
}

export const FormDialog = ({ now = null, action, children, ...frame }: FormDialogProps) => (
  <Frame {...frame} action={now === null ? action : meanwhileTexts.saveAnyway} quiet={now !== null}>
    {children}
    {now !== null && <Meanwhile facts={now} />}
  </Frame>
);

interface ConfirmDialogProps extends Omit<FrameProps, "onSubmit" | "disabled" | "size"> {
  /** Takes the reason that was typed, trimmed; blank where none is asked for. */
  onConfirm: (reason: string) => void;
  /** What has to be typed, where a slip would cost much; `id` does, too, as a name may be hard to type. */
  name?: string;
  id?: string;
  /** What `name` is, where it is no name. */
  typeName?: string;
  reason?: { label: string; maxLength: number; needed?: boolean };
  /** It takes nothing away: the button is not red, and has the focus' turn like any other. */
  calm?: boolean;
}

/** The one way to ask once more before something happens: what follows from it, then what has to be typed, if anything. */
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

/** In the place of the buttons, before what was typed is lost. */
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
  /** What went wrong is told by somebody else. */
  quiet?: boolean;
}

function Frame(props: FrameProps & Manner) {
  const { title, onClose, onSubmit, action, mutation, children } = props;
  const { disabled = false, size = "md", danger = false, done = false, quiet = false } = props;
  const [changed, setChanged] = useState(false);
  const [asking, setAsking] = useState(false);
  useFocusBack();
  // Escape and the cross are a slip as often as they are meant; Cancel says what it does.
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
