// The dialogs of the keys page: create, edit, replace, revoke, and the one look at a new secret.
import { Alert, List, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Key, keyQuery, keysQuery, useCreateKey, useEditKey, useRevokeKey } from "../../api/keys.ts";
import { callableModel, modelsQuery } from "../../api/models.ts";
import { ConfirmDialog, FormDialog } from "../../components/dialogs.tsx";
import { Ago, Money } from "../../components/figures.tsx";
import { sinceOpened } from "../../components/meanwhile.tsx";
import { useOpener } from "../../components/opener.ts";
import { type Secret, SecretDialog } from "../../components/secret-dialog.tsx";
import { formatCount } from "../../format/count.ts";
import { useMembership } from "../../membership.tsx";
import { texts } from "../../texts.ts";
import { CreateKeyDialog, EditKeyDialog } from "./key-form.tsx";
import type { Act } from "./page.tsx";

const words = texts.keys;

interface ActProps {
  org: string;
  onClose: () => void;
}

interface KeyActsProps extends ActProps {
  act: Act | null;
  /** A successor was made; both keys work now. */
  onReplaced: (made: string, old: string) => void;
}

export function KeyActs({ org, act, onClose, onReplaced }: KeyActsProps) {
  const [secret, setSecret] = useState<Secret | null>(null);
  const { baseUrl } = useMembership();
  const giveFocusBack = useOpener(act !== null);
  const models = useQuery(modelsQuery(org));
  return (
    <>
      {(act?.kind === "create" || act?.kind === "replace") && (
        <Create
          org={org}
          replaced={act.kind === "replace" ? act.key : null}
          scope={act.kind === "create" ? act.scope : act.key.scope}
          onClose={onClose}
          onSecret={setSecret}
          onReplaced={onReplaced}
        />
      )}
      {act?.kind === "edit" && <Edit org={org} of={act.key} onClose={onClose} />}
      {act?.kind === "revoke" && <Revoke org={org} of={act.key} onClose={onClose} />}
      <SecretDialog
        shown={secret}
        baseUrl={baseUrl}
        model={callableModel(models.data?.data)?.id ?? texts.welcome.noModel}
        onClose={() => {
          setSecret(null);
          giveFocusBack();
        }}
      />
    </>
  );
}

interface CreateProps extends ActProps {
  replaced: Key | null;
  scope: Key["scope"];
  onSecret: (secret: Secret) => void;
  onReplaced: KeyActsProps["onReplaced"];
}

function Create({ org, replaced, scope, onClose, onSecret, onReplaced }: CreateProps) {
  const [shownBefore, setShownBefore] = useState(false);
  const create = useCreateKey(org, ({ id, name, secret, replaces }) => {
    if (replaces !== null) onReplaced(id, replaces);
    if (secret === null) return setShownBefore(true);
    onClose();
    onSecret({ name, secret });
  });
  if (replaced !== null)
    return (
      <FormDialog
        opened
        title={words.replaceTitle(replaced.name)}
        action={words.replace}
        mutation={create}
        disabled={shownBefore}
        onClose={onClose}
        onSubmit={() => create.mutate({ replaces: replaced.id })}
      >
        <Text size="sm">{words.replaceHelp}</Text>
        {shownBefore && <Alert color="yellow">{words.replayed}</Alert>}
      </FormDialog>
    );
  return (
    <CreateKeyDialog
      opened
      shownBefore={shownBefore}
      startScope={scope}
      mutation={create}
      onClose={onClose}
      onSubmit={(terms) => create.mutate(terms)}
    />
  );
}

function Edit({ org, of, onClose }: ActProps & { of: Key }) {
  const change = useEditKey(org, of.id, onClose);
  const { data: keys } = useQuery(keysQuery(org));
  const { on, late } = sinceOpened(
    change,
    of,
    keys?.data.find(({ id }) => id === of.id),
  );
  return (
    <EditKeyDialog
      opened
      of={of}
      now={late ? on : null}
      mutation={change}
      onClose={onClose}
      onSubmit={(edit) => change.mutate({ ...edit, version: on.version })}
    />
  );
}

function Revoke({ org, of, onClose }: ActProps & { of: Key }) {
  const revoke = useRevokeKey(org, of.id, onClose);
  const { data } = useQuery(keyQuery(org, of.id));
  return (
    <ConfirmDialog
      opened
      title={words.revokeTitle(of.name)}
      name={of.name}
      action={words.revokeAction(of.name)}
      mutation={revoke}
      onClose={onClose}
      onSubmit={() => revoke.mutate(null)}
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
