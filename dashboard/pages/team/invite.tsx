// The dialog that invites, and the one look at the invitation's link. The link lives in this state and nowhere else:
// not in the query cache, the address or the storage. Escape and a click outside do nothing while it is shown.
import { Alert, Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Role } from "../../api/session.ts";
import { useInvite } from "../../api/team.ts";
import { Copyable } from "../../components/copy.tsx";
import { FormDialog } from "../../components/dialogs.tsx";
import { Icon } from "../../components/icon.tsx";
import { texts } from "../../texts.ts";
import type { ActProps } from "./acts.tsx";
import { RoleChoice } from "./role-choice.tsx";

const words = texts.team;

interface Shown {
  email: string;
  link: string;
}

export function Invite({ org, opened, onClose }: ActProps & { opened: boolean }) {
  const [shown, setShown] = useState<Shown | null>(null);
  return (
    <>
      {opened && <InviteForm org={org} onClose={onClose} onShown={setShown} />}
      <LinkDialog shown={shown} onClose={() => setShown(null)} />
    </>
  );
}

function InviteForm({ org, onClose, onShown }: ActProps & { onShown: (shown: Shown) => void }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("developer");
  const [shownBefore, setShownBefore] = useState(false);
  const invite = useInvite(org.id, ({ email: invited, link }) => {
    if (link === null) return setShownBefore(true);
    onClose();
    onShown({ email: invited, link });
  });
  return (
    <FormDialog
      opened
      title={words.inviteTitle(org.name)}
      action={words.invite}
      mutation={invite}
      disabled={!email.includes("@") || shownBefore}
      onClose={onClose}
      onSubmit={() => invite.mutate({ email: email.trim(), role })}
    >
      {shownBefore && <Alert color="yellow">{words.linkReplayed}</Alert>}
      <TextInput
        label={words.email}
        description={words.emailHelp}
        type="email"
        autoComplete="off"
        data-autofocus
        value={email}
        maxLength={254}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <RoleChoice role={role} setRole={setRole} by={org.role} />
    </FormDialog>
  );
}

const LinkDialog = ({ shown, onClose }: { shown: Shown | null; onClose: () => void }) => (
  <Modal
    opened={shown !== null}
    onClose={onClose}
    title={shown === null ? "" : words.linkTitle(shown.email)}
    size="lg"
    closeOnEscape={false}
    closeOnClickOutside={false}
    withCloseButton={false}
  >
    <Stack gap="md">
      <Alert
        color="yellow"
        variant="light"
        icon={<Icon name="warning" />}
        styles={{ icon: { color: "var(--tone-warning)" } }}
      >
        {words.linkOnce}
      </Alert>
      {shown !== null && <Copyable text={shown.link} label={words.linkCopy} />}
      <Group justify="flex-end">
        <Button onClick={onClose}>{words.linkDone}</Button>
      </Group>
    </Stack>
  </Modal>
);
