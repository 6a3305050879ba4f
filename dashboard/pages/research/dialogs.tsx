// Asking for an entitlement, and taking the question back.
import { Alert, List, Select, Text, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Entitlement, researchModelsQuery, useAsk, useWithdraw } from "../../api/research.ts";
import { FormDialog } from "../../components/dialogs.tsx";
import { today } from "../../format/time.ts";
import { texts } from "../../texts.ts";

const words = texts.research;

interface DialogProps {
  org: string;
  onClose: () => void;
}

export function AskDialog({ org, onClose }: DialogProps) {
  const [model, setModel] = useState<string | null>(null);
  const [project, setProject] = useState("");
  const [purpose, setPurpose] = useState("");
  const [until, setUntil] = useState("");
  const models = useQuery(researchModelsQuery(org));
  const ask = useAsk(org, onClose);
  const past = until !== "" && until <= today();
  const blank = model === null || project.trim() === "" || purpose.trim() === "";
  return (
    <FormDialog
      opened
      title={words.ask}
      action={words.ask}
      mutation={models.error === null ? ask : { isPending: false, error: models.error }}
      disabled={blank || past}
      onClose={onClose}
      onSubmit={() =>
        model !== null &&
        ask.mutate({
          model,
          project: project.trim(),
          purpose: oneLine(purpose),
          until: until === "" ? null : until,
        })
      }
    >
      {models.data?.length === 0 && <Alert color="yellow">{words.noModels}</Alert>}
      <Select
        label={words.model}
        description={words.modelHelp}
        value={model}
        onChange={setModel}
        allowDeselect={false}
        data={(models.data ?? []).map(({ id, state }) => ({
          value: id,
          label: state === "live" ? id : `${id} (${state})`,
        }))}
        data-autofocus
      />
      <TextInput
        label={words.project}
        description={words.projectHelp}
        value={project}
        maxLength={200}
        onChange={(event) => setProject(event.currentTarget.value)}
      />
      <Textarea
        label={words.purpose}
        description={words.purposeHelp}
        value={purpose}
        maxLength={1000}
        autosize
        minRows={2}
        onChange={(event) => setPurpose(event.currentTarget.value)}
      />
      <TextInput
        type="date"
        label={words.until}
        description={words.untilHelp}
        value={until}
        error={past && words.untilPast}
        onChange={(event) => setUntil(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

export function WithdrawDialog({ org, of, onClose }: DialogProps & { of: Entitlement }) {
  const withdraw = useWithdraw(org, of.id, onClose);
  return (
    <FormDialog
      opened
      title={words.withdrawTitle(of.model)}
      action={words.withdrawTitle(of.model)}
      mutation={withdraw}
      onClose={onClose}
      onSubmit={() => withdraw.mutate(null)}
    >
      <Text size="sm">{words.withdrawHelp}</Text>
      <List size="sm" className="name">
        <List.Item>
          {words.model}: {of.model}
        </List.Item>
        <List.Item>
          {words.project}: {of.project}
        </List.Item>
      </List>
    </FormDialog>
  );
}

/** A purpose is one line on the server; people press Enter. */
const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();
