// Requesting an entitlement, and withdrawing the request.
import { Alert, List, Select, Text, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read } from "../../api/read.ts";
import { useChange } from "../../api/change.ts";
import type { Row } from "../../api/routes.ts";
import { ConfirmDialog, FormDialog } from "../../components/dialogs.tsx";
import { today } from "../../format/time.ts";
import { researchTexts as words } from "./texts.ts";

type Entitlement = Row<"GET /orgs/{org}/research">;

interface DialogProps {
  org: string;
  onClose: () => void;
}

/** `wanted` is the model that the person came from. */
export function AskDialog({ org, wanted, onClose }: DialogProps & { wanted: string }) {
  const [model, setModel] = useState<string | null>(wanted === "" ? null : wanted);
  const [project, setProject] = useState("");
  const [purpose, setPurpose] = useState("");
  const [until, setUntil] = useState("");
  const models = useQuery({
    ...read("GET /orgs/{org}/models", { org }),
    select: ({ data }) => data.filter(({ tier }) => tier === "research"),
  });
  const ask = useChange("POST /orgs/{org}/research", { org }, onClose);
  const past = until !== "" && until <= today();
  const blank = model === null || project.trim() === "" || purpose.trim() === "";
  return (
    <FormDialog
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
        data-field="model"
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
        data-field="project"
        description={words.projectHelp}
        value={project}
        maxLength={200}
        onChange={(event) => setProject(event.currentTarget.value)}
      />
      <Textarea
        label={words.purpose}
        data-field="purpose"
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
        data-field="until"
        description={words.untilHelp}
        value={until}
        error={past && words.untilPast}
        onChange={(event) => setUntil(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

export function WithdrawDialog({ org, of, onClose }: DialogProps & { of: Entitlement }) {
  const withdraw = useChange(
    "POST /orgs/{org}/research/{entitlement}/withdraw",
    { org, entitlement: of.id },
    onClose,
  );
  return (
    <ConfirmDialog
      calm
      title={words.withdrawTitle(of.model)}
      action={words.withdrawTitle(of.model)}
      mutation={withdraw}
      onClose={onClose}
      onConfirm={() => withdraw.mutate({})}
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
    </ConfirmDialog>
  );
}

/** A purpose is one line on the server, but people press Enter. */
const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();
