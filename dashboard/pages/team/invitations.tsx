// Invitations that nobody has taken yet.
import { Button, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Invitation, invitationsQuery, useWithdrawInvitation } from "../../api/team.ts";
import type { Column } from "../../components/data-table.tsx";
import { QuestionDialog } from "../../components/dialogs.tsx";
import { Ago } from "../../components/figures.tsx";
import { OpenInvitationsTable } from "../../components/open-invitations.tsx";
import { Section } from "../../components/page.tsx";
import { Loaded } from "../../components/states.tsx";
import { texts } from "../../texts.ts";

const words = texts.team;

export function OpenInvitations({ org, changeable }: { org: string; changeable: boolean }) {
  const invitations = useQuery(invitationsQuery(org));
  const [withdrawn, setWithdrawn] = useState<Invitation | null>(null);
  return (
    <Section title={words.invitations}>
      {withdrawn !== null && <Withdraw org={org} of={withdrawn} onClose={() => setWithdrawn(null)} />}
      <Loaded query={invitations}>
        {({ data }) => (
          <OpenInvitationsTable
            label={words.invitations}
            none={words.noInvitations}
            invitations={data}
            columns={[...COLUMNS, ...(changeable ? [actions(setWithdrawn)] : [])]}
          />
        )}
      </Loaded>
    </Section>
  );
}

const COLUMNS: Column<Invitation>[] = [
  {
    title: words.email,
    always: true,
    cell: ({ email }) => (
      <Text size="sm" fw={600} className="name">
        {email}
      </Text>
    ),
  },
  { title: words.role, cell: ({ role }) => words.roles[role] },
  { title: words.invitedBy, cell: ({ invited_by }) => invited_by.name ?? invited_by.id },
  { title: words.expires, always: true, cell: ({ expires_at }) => <Ago at={expires_at} /> },
];

const actions = (withdraw: (of: Invitation) => void): Column<Invitation> => ({
  title: words.columns.actions,
  acts: true,
  always: true,
  figures: true,
  cell: (of) => (
    <Button
      size="compact-sm"
      variant="subtle"
      aria-label={words.withdrawFor(of.email)}
      onClick={() => withdraw(of)}
    >
      {words.withdraw}
    </Button>
  ),
});

function Withdraw({ org, of, onClose }: { org: string; of: Invitation; onClose: () => void }) {
  const withdraw = useWithdrawInvitation(org, of.id, onClose);
  return (
    <QuestionDialog
      title={words.withdrawFor(of.email)}
      action={words.withdrawFor(of.email)}
      mutation={withdraw}
      onClose={onClose}
      onSubmit={() => withdraw.mutate(null)}
    >
      {words.withdrawHelp}
    </QuestionDialog>
  );
}
