// Invitations of operators that nobody has taken yet. A link is shown once, when it is made: whoever lost it makes another.
import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  type OpenInvitation,
  operatorInvitationsQuery,
  useInviteOperator,
  useWithdrawOperatorInvitation,
} from "../../../api/office.ts";
import type { Column } from "../../../components/data-table.tsx";
import { FormDialog, QuestionDialog } from "../../../components/dialogs.tsx";
import { Ago, Time } from "../../../components/figures.tsx";
import type { ShownLink } from "../../../components/link-dialog.tsx";
import { OpenInvitationsTable } from "../../../components/open-invitations.tsx";
import { Section } from "../../../components/page.tsx";
import { RowActs } from "../../../components/row-acts.tsx";
import { Loaded } from "../../../components/states.tsx";
import { texts } from "../../../texts.ts";

const words = texts.operatorPeople;
interface Act {
  kind: "newLink" | "withdraw";
  of: OpenInvitation;
}

export function OperatorInvitations({ onLink }: { onLink: (link: ShownLink) => void }) {
  const invitations = useQuery(operatorInvitationsQuery);
  const [act, setAct] = useState<Act | null>(null);
  const close = (): void => setAct(null);
  return (
    <Section title={words.invitations}>
      <Loaded query={invitations}>
        {({ data }) => (
          <OpenInvitationsTable
            label={words.invitations}
            none={words.noInvitations}
            invitations={data}
            columns={columns((kind, of) => setAct({ kind, of }))}
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
          {email}
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
  const invite = useInviteOperator(({ email, link, expires_at }) => {
    onClose();
    onLink({ title: words.linkFor(email), link, expiresAt: expires_at });
  });
  return (
    <FormDialog
      opened
      title={words.newLinkTitle(of.email)}
      action={words.newLink}
      mutation={invite}
      onClose={onClose}
      onSubmit={() => invite.mutate({ email: of.email })}
    >
      <Text size="sm">{words.newLinkHelp}</Text>
    </FormDialog>
  );
}

function Withdraw({ of, onClose }: DialogProps) {
  const withdraw = useWithdrawOperatorInvitation(of.id, onClose);
  return (
    <QuestionDialog
      title={words.withdrawTitle(of.email)}
      action={words.withdraw}
      mutation={withdraw}
      onClose={onClose}
      onSubmit={() => withdraw.mutate(null)}
    >
      {words.withdrawHelp}
    </QuestionDialog>
  );
}
