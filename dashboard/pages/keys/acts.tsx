// The dialogs of the keys page: create, edit, pause, replace, revoke, and the new secret, shown once.
import { List, Modal, Select, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { callableModel } from "../../api/models.ts";
import { useChange } from "../../api/change.ts";
import { read } from "../../api/read.ts";
import type { Row } from "../../api/routes.ts";
import { ConfirmDialog, FormDialog } from "../../components/dialogs.tsx";
import { Ago, Money } from "../../components/figures.tsx";
import { sinceOpened } from "../../components/meanwhile.tsx";
import { FocusBack } from "../../components/opener.ts";
import { RateLimits } from "../../components/rate-limits.tsx";
import { type Secret, SecretDialog } from "../../components/secret-dialog.tsx";
import { formatCount } from "../../format/count.ts";
import { useMembership } from "../../membership.tsx";
import { keysTexts as words } from "./texts.ts";
import { rateTexts, secretTexts } from "../../components/texts.ts";
import { CreateKeyDialog, EditKeyDialog, LostSecret, type Made } from "./key-form.tsx";
import type { KeyAct } from "./row-menu.tsx";

type Key = Row<"GET /orgs/{org}/keys">;

/** The open dialog. */
export type Act = { kind: "create"; scope: Key["scope"] } | { kind: KeyAct; key: Key };

interface ActProps {
  org: string;
  onClose: () => void;
}

interface KeyActsProps extends ActProps {
  act: Act | null;
  /** A successor was made; both keys work now. */
  onReplaced?: ((made: string, old: string) => void) | undefined;
}

export function KeyActs({ org, act, onClose, onReplaced }: KeyActsProps) {
  const [secret, setSecret] = useState<Secret | null>(null);
  const { baseUrl } = useMembership();
  const models = useQuery(read("GET /orgs/{org}/models", { org }));
  return (
    <>
      {act?.kind === "create" && (
        <Create org={org} scope={act.scope} onClose={onClose} onSecret={setSecret} />
      )}
      {act?.kind === "replace" && (
        <Replace org={org} of={act.key} onClose={onClose} onSecret={setSecret} onReplaced={onReplaced} />
      )}
      {act?.kind === "edit" && <Edit org={org} of={act.key} onClose={onClose} />}
      {act?.kind === "pause" && <Pause org={org} of={act.key} onClose={onClose} />}
      {act?.kind === "resume" && <Resume org={org} of={act.key} onClose={onClose} />}
      {act?.kind === "rates" && (
        <Modal opened onClose={onClose} title={`${rateTexts.title} · ${act.key.name}`} size="lg">
          <FocusBack />
          <RateLimits keyId={act.key.id} />
        </Modal>
      )}
      {act?.kind === "revoke" && <Revoke org={org} of={act.key} onClose={onClose} />}
      <SecretDialog
        shown={secret}
        baseUrl={baseUrl}
        model={callableModel(models.data?.data)?.id ?? secretTexts.noModel}
        onClose={() => setSecret(null)}
      />
    </>
  );
}

interface CreateProps extends ActProps {
  onSecret: (secret: Secret) => void;
}

function Create({ org, scope, onClose, onSecret }: CreateProps & { scope: Key["scope"] }) {
  const [lost, setLost] = useState<Made | null>(null);
  const create = useChange("POST /orgs/{org}/keys", { org }, ({ id, name, secret }) => {
    if (secret === null) return setLost({ id, name });
    onClose();
    onSecret({ name, secret });
  });
  return (
    <CreateKeyDialog
      org={org}
      lost={lost}
      startScope={scope}
      mutation={create}
      onClose={onClose}
      onSubmit={(terms) => create.mutate(terms)}
    />
  );
}

interface ReplaceProps extends CreateProps {
  of: Key;
  onReplaced: KeyActsProps["onReplaced"];
}

function Replace({ org, of, onClose, onSecret, onReplaced }: ReplaceProps) {
  const [lost, setLost] = useState<Made | null>(null);
  const [overlap, setOverlap] = useState("");
  const replace = useChange(
    "POST /orgs/{org}/keys/{key}/replace",
    { org, key: of.id },
    ({ id, name, secret }) => {
      onReplaced?.(id, of.id);
      if (secret === null) return setLost({ id, name });
      onClose();
      onSecret({ name, secret });
    },
  );
  return (
    <FormDialog
      title={words.replaceTitle(of.name)}
      action={words.replace}
      mutation={replace}
      done={lost !== null}
      onClose={onClose}
      onSubmit={() => replace.mutate({ overlap_hours: overlap === "" ? null : Number(overlap) })}
    >
      <Text size="sm">{words.replaceHelp}</Text>
      <Select
        label={words.overlap}
        data-field="overlap_hours"
        allowDeselect={false}
        value={overlap}
        onChange={(value) => setOverlap(value ?? "")}
        data={words.overlaps.map(([value, label]) => ({ value, label }))}
      />
      {lost !== null && <LostSecret org={org} of={lost} />}
    </FormDialog>
  );
}

function Edit({ org, of, onClose }: ActProps & { of: Key }) {
  const change = useChange("PATCH /orgs/{org}/keys/{key}", { org, key: of.id }, onClose);
  const { data: present } = useQuery(read("GET /orgs/{org}/keys/{key}", { org, key: of.id }));
  const { on, late } = sinceOpened(change, of, present);
  return (
    <EditKeyDialog
      org={org}
      of={of}
      now={late ? on : null}
      mutation={change}
      onClose={onClose}
      onSubmit={(edit) => change.mutate({ ...edit, version: on.version })}
    />
  );
}

function Pause({ org, of, onClose }: ActProps & { of: Key }) {
  const pause = useChange("POST /orgs/{org}/keys/{key}/pause", { org, key: of.id }, onClose);
  return (
    <FormDialog
      title={words.pauseTitle(of.name)}
      action={words.pause}
      mutation={pause}
      onClose={onClose}
      onSubmit={() => pause.mutate({})}
    >
      <Text size="sm">{words.pauseHelp}</Text>
    </FormDialog>
  );
}

function Resume({ org, of, onClose }: ActProps & { of: Key }) {
  const resume = useChange("POST /orgs/{org}/keys/{key}/resume", { org, key: of.id }, onClose);
  return (
    <FormDialog
      title={words.resumeTitle(of.name)}
      action={words.resume}
      mutation={resume}
      onClose={onClose}
      onSubmit={() => resume.mutate({})}
    >
      <Text size="sm">{words.resumeHelp}</Text>
    </FormDialog>
  );
}

function Revoke({ org, of, onClose }: ActProps & { of: Key }) {
  const revoke = useChange("POST /orgs/{org}/keys/{key}/revoke", { org, key: of.id }, onClose);
  const { data } = useQuery(read("GET /orgs/{org}/keys/{key}", { org, key: of.id }));
  return (
    <ConfirmDialog
      title={words.revokeTitle(of.name)}
      name={of.name}
      id={of.id}
      action={words.revokeAction(of.name)}
      mutation={revoke}
      onClose={onClose}
      onConfirm={() => revoke.mutate({})}
    >
      <Text size="sm">{words.revokeHelp}</Text>
      <List size="sm" mt="xs">
        <List.Item>
          {words.lastUse}: <Ago at={of.last_used_at} />
        </List.Item>
        <List.Item>
          {words.openHolds}: {data === undefined ? "" : `${data.open_holds} · `}
          <Money usd={of.held_usd} />
        </List.Item>
        <List.Item>
          {words.ago24}: {data?.last_day.length === 0 && words.noRequests}
          {data?.last_day.map(({ model, requests, charge_usd }, n) => (
            <span key={model}>
              {n > 0 && " · "}
              {words.ofModel(formatCount(requests), model)} <Money usd={charge_usd} />
            </span>
          ))}
        </List.Item>
      </List>
    </ConfirmDialog>
  );
}
