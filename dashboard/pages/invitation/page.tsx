// Joining an organization by an invitation's link: with a new account, or as the signed-in person.
import { Button, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ask, useAsk } from "../../api/read.ts";
import type { Answer } from "../../api/routes.ts";
import { queryClient } from "../../api/query-client.ts";
import { visitQuery } from "../../api/session.ts";
import { AccountForm } from "../../components/account-form.tsx";
import { Front } from "../../components/front.tsx";
import { ButtonLink, Link } from "../../components/link.tsx";
import { Failure, Loaded } from "../../components/states.tsx";
import { useLinkToken } from "../../one-time-link.ts";
import { path } from "../../path-builder.ts";
import { invitationTexts as words } from "./texts.ts";

type InvitationPreview = Answer<"POST /invitations/show">;

export function InvitationPage() {
  const token = useLinkToken();
  return (
    <Front title={words.title}>
      {token === null ? <Text>{words.noLink}</Text> : <Invited token={token} />}
    </Front>
  );
}

function Invited({ token }: { token: string }) {
  const invitation = useQuery({ ...ask("POST /invitations/show", {}, { token }), gcTime: 0 });
  return (
    <>
      <Loaded query={invitation}>{(of) => <Join key={token} token={token} of={of} />}</Loaded>
      {invitation.isError && <Link to={path.home()}>{words.home}</Link>}
    </>
  );
}

function Join({ token, of }: { token: string; of: InvitationPreview }) {
  const navigate = useNavigate();
  const visit = useQuery(visitQuery);
  const before = new Set(visit.data?.person?.memberships.map(({ org }) => org));
  const join = useAsk("POST /invitations/accept", {}, ({ person }) => {
    const joined = person?.memberships.find(({ org }) => !before.has(org));
    queryClient.clear();
    void navigate({
      to: joined === undefined ? path.home() : path.organization(joined.org),
      replace: true,
    });
  });
  const mine = visit.data?.person?.email.toLowerCase() === of.email.toLowerCase();
  return (
    <Stack gap="md">
      <Text className="name">{words.lead(of.org_name, of.role)}</Text>
      {mine ? (
        <>
          {join.error !== null && <Failure error={join.error} />}
          <Button loading={join.isPending} onClick={() => join.mutate({ token })}>
            {words.accept}
          </Button>
        </>
      ) : of.has_account ? (
        <>
          <Text size="sm">{words.hasAccount}</Text>
          <ButtonLink to={path.signIn()} search={{ next: path.invitation() }}>
            {words.signIn}
          </ButtonLink>
        </>
      ) : (
        <AccountForm
          action={words.accept}
          email={of.email}
          mutation={join}
          onSubmit={({ name, password }) => join.mutate({ token, account: { name, password } })}
        />
      )}
    </Stack>
  );
}
