// Publishing a signed release, in two steps: it is verified and compared first, then published. Disabling and enabling.
import { Alert, FileInput, Table, Text, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import {
  useDisableRoute,
  useEnableRoute,
  usePublish,
  useVerify,
  type VerifiedRelease,
} from "../../../api/house.ts";
import { ConfirmDialog, FormDialog } from "../../../components/dialogs.tsx";
import { Time } from "../../../components/figures.tsx";
import { texts } from "../../../texts.ts";

const words = texts.operatorRoutes;

export function PublishDialog({ onClose }: { onClose: () => void }) {
  const [jws, setJws] = useState("");
  const verify = useVerify();
  const publish = usePublish(onClose);
  const change = (text: string): void => {
    setJws(text.trim());
    verify.reset();
  };
  const verified = verify.data;
  return (
    <FormDialog
      opened
      size="lg"
      title={words.publishTitle}
      action={verified === undefined ? words.verify : words.publishVersion(verified.release.version)}
      mutation={verified === undefined ? verify : publish}
      disabled={jws === ""}
      onClose={onClose}
      onSubmit={() => (verified === undefined ? verify.mutate(jws) : publish.mutate({ jws }))}
    >
      <Text size="sm">{words.publishHelp}</Text>
      <FileInput
        label={words.file}
        placeholder={words.fileHint}
        accept=".jws,text/plain"
        onChange={(file) => void file?.text().then(change)}
      />
      <Textarea
        label={words.jws}
        autosize
        minRows={3}
        maxRows={6}
        value={jws}
        onChange={(event) => change(event.currentTarget.value)}
      />
      {verified !== undefined && <Difference of={verified} />}
    </FormDialog>
  );
}

const Difference = ({ of }: { of: VerifiedRelease }) => (
  <Alert color="indigo" variant="light" title={words.verified(of.release.route, of.release.version)}>
    <Text size="sm" mb="xs">
      {of.live === null ? words.newRoute : words.replaces(of.live.version)} {words.until}{" "}
      <Time at={of.release.expires_at} />
    </Text>
    {of.changes.length > 0 && (
      <Table fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.field}</Table.Th>
            <Table.Th>{words.before}</Table.Th>
            <Table.Th>{words.after}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {of.changes.map(({ field, before, after }) => (
            <Table.Tr key={field}>
              <Table.Td>{field}</Table.Td>
              <Table.Td className="name">{before ?? "–"}</Table.Td>
              <Table.Td className="name">{after ?? "–"}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    )}
  </Alert>
);

export function DisableDialog({ route, onClose }: { route: string; onClose: () => void }) {
  const [reason, setReason] = useState("");
  const disable = useDisableRoute(onClose);
  return (
    <ConfirmDialog
      opened
      title={words.disableTitle(route)}
      name={route}
      action={words.disable}
      mutation={disable}
      onClose={onClose}
      onSubmit={() => disable.mutate({ route, reason: reason.trim() || words.noReason })}
    >
      <Text size="sm" mb="xs">
        {words.disableHelp}
      </Text>
      <TextInput
        label={words.reason}
        value={reason}
        maxLength={200}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </ConfirmDialog>
  );
}

export function EnableDialog({ route, onClose }: { route: string; onClose: () => void }) {
  const enable = useEnableRoute(onClose);
  return (
    <FormDialog
      opened
      title={words.enableTitle(route)}
      action={words.enable}
      mutation={enable}
      onClose={onClose}
      onSubmit={() => enable.mutate({ route })}
    >
      <Text size="sm">{words.enableHelp}</Text>
    </FormDialog>
  );
}
