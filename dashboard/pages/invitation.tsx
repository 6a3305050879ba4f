// Joining an organization by the link of an invitation: with a new account, or as the person who is signed in.
import { Button, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { acceptInvitation, type InvitationPreview, invitationQuery } from "../api/account.ts";
import { queryClient } from "../api/query-client.ts";
import { visitQuery } from "../api/session.ts";
import { AccountForm } from "../components/account-form.tsx";
import { Front } from "../components/front.tsx";
import { ButtonLink } from "../components/link.tsx";
import { Failure, Loaded } from "../components/states.tsx";
import { useLinkToken } from "../one-time-link.ts";
import { path } from "../path-builder.ts";
import { texts } from "../texts.ts";

const words = texts.invitation;

export function InvitationPage() {
  const token = useLinkToken();
  return (
    <Front title={words.title}>
      {token === null ? <Text>{words.noLink}</Text> : <Invited token={token} />}
    </Front>
  );
}

function Invited({ token }: { token: string }) {
  const invitation = useQuery(invitationQuery(token));
  return <Loaded query={invitation}>{(of) => <Join token={token} of={of} />}</Loaded>;
}

function Join({ token, of }: { token: string; of: InvitationPreview }) {
  const navigate = useNavigate();
  const visit = useQuery(visitQuery);
  const join = useMutation({
    mutationFn: acceptInvitation,
    onSuccess: () => {
      queryClient.clear();
      void navigate({ to: path.home(), replace: true });
    },
  });
  const mine = visit.data?.person?.email.toLowerCase() === of.email.toLowerCase();
  return (
    <Stack gap="md">
      <Text>{words.lead(of.org_name, of.role)}</Text>
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
          <ButtonLink to={path.signIn()}>{words.signIn}</ButtonLink>
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
