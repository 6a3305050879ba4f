// Deciding about an entitlement: approve until a day, decline with a reason, revoke from the next request on.
import { Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { type EntitlementRow, useApprove, useDecline, useRevokeEntitlement } from "../../../api/office.ts";
import { ConfirmDialog, FormDialog } from "../../../components/dialogs.tsx";
import { today } from "../../../format/time.ts";
import { texts } from "../../../texts.ts";

const words = texts.operatorEntitlements;
const DAY_MS = 86_400_000;

interface ActProps {
  of: EntitlementRow;
  onClose: () => void;
}

export function ApproveDialog({ of, onClose }: ActProps) {
  const [expires, setExpires] = useState(
    of.wanted_until?.slice(0, 10) ?? today(new Date(Date.now() + 90 * DAY_MS)),
  );
  const [note, setNote] = useState("");
  const approve = useApprove(of.id, onClose);
  return (
    <FormDialog
      opened
      title={words.approveTitle(of.model, of.org_name)}
      action={words.approve}
      mutation={approve}
      disabled={expires === ""}
      onClose={onClose}
      onSubmit={() => approve.mutate({ expires, note: note.trim() === "" ? null : note.trim() })}
    >
      <Asked of={of} />
      <Text size="sm">{words.approveHelp}</Text>
      <TextInput
        type="date"
        label={words.expires}
        min={today()}
        value={expires}
        onChange={(event) => setExpires(event.currentTarget.value)}
      />
      <TextInput
        label={words.note}
        maxLength={500}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

/** What is decided about, by whom it was asked, and what for. */
const Asked = ({ of: { project, asked_by, purpose } }: Pick<ActProps, "of">) => (
  <Text size="sm" c="dimmed" className="name">
    {project} · {asked_by?.name ?? "–"}
    {purpose !== null && `: ${purpose}`}
  </Text>
);

export function DeclineDialog({ of, onClose }: ActProps) {
  const [reason, setReason] = useState("");
  const decline = useDecline(of.id, onClose);
  return (
    <FormDialog
      opened
      title={words.declineTitle(of.model, of.org_name)}
      action={words.decline}
      mutation={decline}
      disabled={reason.trim() === ""}
      onClose={onClose}
      onSubmit={() => decline.mutate({ reason: reason.trim() })}
    >
      <Asked of={of} />
      <TextInput
        label={words.reason}
        maxLength={500}
        value={reason}
        data-autofocus
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

export function RevokeDialog({ of, onClose }: ActProps) {
  const [reason, setReason] = useState("");
  const revoke = useRevokeEntitlement(of.id, onClose);
  return (
    <ConfirmDialog
      opened
      title={words.revokeTitle(of.model, of.org_name)}
      name={of.project}
      action={words.revoke}
      mutation={revoke}
      onClose={onClose}
      onSubmit={() => revoke.mutate({ reason: reason.trim() || words.noReason })}
    >
      <Text size="sm" mb="xs">
        {words.revokeHelp}
      </Text>
      <TextInput
        label={words.reason}
        maxLength={500}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </ConfirmDialog>
  );
}
