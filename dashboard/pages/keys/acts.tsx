// The dialogs of the keys page: create, limit, replace, revoke, and the one look at a new secret.
import { List, Text } from "@mantine/core";
import { useState } from "react";
import type { KeyJson } from "../../../src/contract/admin.ts";
import { useCreateKey, useLimitKey, useRevokeKey } from "../../api/keys.ts";
import { ConfirmDialog } from "../../components/dialogs.tsx";
import { Ago, Money } from "../../components/figures.tsx";
import { type Secret, SecretDialog } from "../../components/secret-dialog.tsx";
import { useMembership } from "../../membership.tsx";
import { texts } from "../../texts.ts";
import { CreateKeyDialog, LimitDialog } from "./key-form.tsx";
import type { Act } from "./page.tsx";

const words = texts.keys;

interface ActProps {
  org: string;
  onClose: () => void;
}

export function KeyActs({ org, act, onClose }: ActProps & { act: Act | null }) {
  const [secret, setSecret] = useState<Secret | null>(null);
  const { baseUrl } = useMembership();
  return (
    <>
      {(act?.kind === "create" || act?.kind === "replace") && (
        <Create
          org={org}
          replaced={act.kind === "replace" ? act.key : null}
          onClose={onClose}
          onSecret={setSecret}
        />
      )}
      {act?.kind === "limit" && <Limit org={org} of={act.key} onClose={onClose} />}
      {act?.kind === "revoke" && <Revoke org={org} of={act.key} onClose={onClose} />}
      <SecretDialog
        shown={secret}
        baseUrl={baseUrl}
        model="base-preview-v1"
        onClose={() => setSecret(null)}
      />
    </>
  );
}

function Create(props: ActProps & { replaced: KeyJson | null; onSecret: (secret: Secret) => void }) {
  const { org, replaced, onClose, onSecret } = props;
  // Made when the form opens: a double click or a retry makes one key.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const create = useCreateKey(org, (key) => {
    onClose();
    onSecret({ name: key.name, secret: key.secret });
  });
  return (
    <CreateKeyDialog
      opened
      replaced={replaced}
      mutation={create}
      onClose={onClose}
      onSubmit={(terms) => create.mutate({ ...terms, idempotencyKey })}
    />
  );
}

function Limit({ org, of, onClose }: ActProps & { of: KeyJson }) {
  const limit = useLimitKey(org, onClose);
  return (
    <LimitDialog
      opened
      of={of}
      mutation={limit}
      onClose={onClose}
      onSubmit={(usd) => limit.mutate({ key: of.id, usd })}
    />
  );
}

function Revoke({ org, of, onClose }: ActProps & { of: KeyJson }) {
  const revoke = useRevokeKey(org, onClose);
  return (
    <ConfirmDialog
      opened
      title={words.revokeTitle(of.name)}
      name={of.name}
      action={words.revokeAction(of.name)}
      mutation={revoke}
      onClose={onClose}
      onSubmit={() => revoke.mutate({ key: of.id })}
    >
      <Text size="sm">{words.revokeHelp}</Text>
      <List size="sm" mt="xs">
        <List.Item>
          {words.lastUse}: <Ago at={of.last_used_at} />
        </List.Item>
        <List.Item>
          {words.openHolds}: <Money usd={of.held_usd} />
        </List.Item>
      </List>
    </ConfirmDialog>
  );
}
