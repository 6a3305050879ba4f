// Open invitations of operators. A link is shown once, when it is made; if it is lost, make another.
import { Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useChange } from "../../../api/change.ts";
import { moreOf, readPages } from "../../../api/read.ts";
import type { Row } from "../../../api/routes.ts";
import type { Column } from "../../../components/data-table.tsx";
import { ConfirmDialog } from "../../../components/dialogs.tsx";
import { Ago, Time } from "../../../components/figures.tsx";
import type { ShownLink } from "../../../components/link-dialog.tsx";
import { OpenInvitationsTable } from "../../../components/open-invitations.tsx";
import { Section } from "../../../components/page.tsx";
import { RowActs } from "../../../components/row-acts.tsx";
import { Loaded } from "../../../components/states.tsx";
import { Parts } from "../../../components/parts.tsx";
import { operatorPeopleTexts as words } from "./texts.ts";

type OpenInvitation = Row<"GET /operator/invitations">;

interface Act {
  kind: "newLink" | "withdraw";
  of: OpenInvitation;
}

export function OperatorInvitations({ onLink }: { onLink: (link: ShownLink) => void }) {
  const invitations = useInfiniteQuery(readPages("GET /operator/invitations", {}, { state: "open" }));
  const [act, setAct] = useState<Act | null>(null);
  const close = (): void => setAct(null);
  return (
    <Section title={words.invitations}>
      <Loaded query={invitations}>
        {(rows) => (
          <OpenInvitationsTable
            label={words.invitations}
            none={words.noInvitations}
            invitations={rows}
            columns={columns((kind, of) => setAct({ kind, of }))}
            more={moreOf(invitations)}
          />
        )}
      </Loaded>
      {act?.kind === "newLink" && <NewLink of={act.of} onClose={close} onLink={onLink} />}
      {act?.kind === "withdraw" && <Withdraw of={act.of} onClose={close} />}
    </Section>
  );
}

const columns = (act: (kind: Act["kind"], of: OpenInvitation) => void): Column<OpenInvitation>[] => [
  {
    title: words.columns.email,
    always: true,
    cell: ({ email, expires_at }) => (
      <Stack gap={0}>
        <Text size="sm" fw={600} className="name">
          <Parts of={email} />
        </Text>
        <Text size="xs" c="dimmed" hiddenFrom="sm">
          {words.columns.expires} <Ago at={expires_at} />
        </Text>
      </Stack>
    ),
  },
  { title: words.columns.made, cell: ({ created_at }) => <Time at={created_at} /> },
  {
    title: words.columns.by,
    cell: ({ invited_by }) => <span className="name">{invited_by.name ?? invited_by.id}</span>,
  },
  { title: words.columns.expires, cell: ({ expires_at }) => <Ago at={expires_at} /> },
  {
    title: words.columns.actions,
    acts: true,
    always: true,
    cell: (of) => (
      <RowActs
        label={words.menu(of.email)}
        acts={[
          { label: words.newLink, act: () => act("newLink", of) },
          { label: words.withdraw, act: () => act("withdraw", of) },
        ]}
      />
    ),
  },
];

interface DialogProps {
  of: OpenInvitation;
  onClose: () => void;
}

function NewLink({ of, onClose, onLink }: DialogProps & { onLink: (link: ShownLink) => void }) {
  const invite = useChange("POST /operator/people", {}, ({ email, link, expires_at, mail }) => {
    onClose();
    onLink({ title: words.linkFor(email), link, expiresAt: expires_at, mail });
  });
  return (
    <ConfirmDialog
      calm
      title={words.newLinkTitle(of.email)}
      action={words.newLink}
      mutation={invite}
      onClose={onClose}
      onConfirm={() => invite.mutate({ email: of.email })}
    >
      {words.newLinkHelp}
    </ConfirmDialog>
  );
}

function Withdraw({ of, onClose }: DialogProps) {
  const withdraw = useChange("DELETE /operator/invitations/{invitation}", { invitation: of.id }, onClose);
  return (
    <ConfirmDialog
      title={words.withdrawTitle(of.email)}
      action={words.withdraw}
      mutation={withdraw}
      onClose={onClose}
      onConfirm={() => withdraw.mutate({})}
    >
      {words.withdrawHelp}
    </ConfirmDialog>
  );
}
