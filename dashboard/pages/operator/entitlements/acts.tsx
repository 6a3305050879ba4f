// Deciding on an entitlement: approve until a day, decline with a reason, revoke from the next request on.
import { DAY_MS } from "../../../../src/domain/durations.ts";
import { Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../../api/change.ts";
import type { Row } from "../../../api/routes.ts";
import { ConfirmDialog, FormDialog } from "../../../components/dialogs.tsx";
import { nameAmong, useNamesakes } from "../../../components/organization-name.tsx";
import { today } from "../../../format/time.ts";
import { operatorEntitlementsTexts as words } from "./texts.ts";

type EntitlementRow = Row<"GET /operator/entitlements">;

const useWhose = ({ org, org_name: name }: EntitlementRow): string =>
  nameAmong(useNamesakes(), { id: org, name });

interface ActProps {
  of: EntitlementRow;
  onClose: () => void;
}

export function ApproveDialog({ of, onClose }: ActProps) {
  const [expires, setExpires] = useState(
    of.wanted_until?.slice(0, 10) ?? today(new Date(Date.now() + 90 * DAY_MS)),
  );
  const [note, setNote] = useState("");
  const whose = useWhose(of);
  const approve = useChange(
    "POST /operator/entitlements/{entitlement}/approve",
    { entitlement: of.id },
    onClose,
  );
  return (
    <FormDialog
      title={words.approveTitle(of.model, whose)}
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
        data-field="expires"
        min={today()}
        value={expires}
        onChange={(event) => setExpires(event.currentTarget.value)}
      />
      <TextInput
        label={words.note}
        data-field="note"
        maxLength={500}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

/** The request: the project, who asked, and for what purpose. */
const Asked = ({ of: { project, asked_by, purpose } }: Pick<ActProps, "of">) => (
  <Text size="sm" c="dimmed" className="name">
    {project} · {asked_by?.name ?? "–"}
    {purpose !== null && `: ${purpose}`}
  </Text>
);

export function DeclineDialog({ of, onClose }: ActProps) {
  const whose = useWhose(of);
  const decline = useChange(
    "POST /operator/entitlements/{entitlement}/decline",
    { entitlement: of.id },
    onClose,
  );
  return (
    <ConfirmDialog
      calm
      title={words.declineTitle(of.model, whose)}
      action={words.decline}
      mutation={decline}
      onClose={onClose}
      reason={{ label: words.reason, maxLength: 500, needed: true }}
      onConfirm={(reason) => decline.mutate({ reason })}
    >
      <Asked of={of} />
    </ConfirmDialog>
  );
}

export function RevokeDialog({ of, onClose }: ActProps) {
  const whose = useWhose(of);
  const revoke = useChange(
    "POST /operator/entitlements/{entitlement}/revoke",
    { entitlement: of.id },
    onClose,
  );
  return (
    <ConfirmDialog
      title={words.revokeTitle(of.model, whose)}
      name={of.project}
      id={of.id}
      action={words.revoke}
      mutation={revoke}
      onClose={onClose}
      reason={{ label: words.reason, maxLength: 500 }}
      onConfirm={(reason) => revoke.mutate({ reason: reason || words.noReason })}
    >
      {words.revokeHelp}
    </ConfirmDialog>
  );
}
