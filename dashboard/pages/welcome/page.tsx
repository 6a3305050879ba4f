// The first run: the one-time link of the start banner makes the first account; then four steps lead to a first
// request.
import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useAsk } from "../../api/read.ts";
import { queryClient } from "../../api/query-client.ts";
import { sessionQuery, type Visit, visitQuery } from "../../api/session.ts";
import { AccountForm } from "../../components/account-form.tsx";
import { Front } from "../../components/front.tsx";
import { ButtonLink } from "../../components/link.tsx";
import { Redirect } from "../../components/redirect.tsx";
import { Failure, Loading } from "../../components/states.tsx";
import { useLinkToken } from "../../one-time-link.ts";
import { path } from "../../path-builder.ts";
import { shellTexts } from "../../components/texts.ts";
import { welcomeTexts as words } from "./texts.ts";
import { Steps } from "./steps.tsx";

export function WelcomePage() {
  const { data, error, refetch } = useQuery(visitQuery);
  const token = useLinkToken();
  if (data === undefined)
    return (
      <Front title={words.title}>
        {error === null ? <Loading /> : <Failure error={error} retry={() => void refetch()} />}
      </Front>
    );
  if (data.person !== null) return <SignedIn visit={data} />;
  if (!data.first_run) return <Redirect to={path.signIn()} search={{ next: path.welcome() }} />;
  if (token !== null) return <FirstAccount token={token} />;
  return (
    <Front title={words.title}>
      <Text>{words.noLink}</Text>
    </Front>
  );
}

function FirstAccount({ token }: { token: string }) {
  const navigate = useNavigate();
  const make = useAsk("POST /welcome", {}, (visit) => {
    queryClient.removeQueries({ queryKey: sessionQuery.queryKey });
    queryClient.setQueryData(visitQuery.queryKey, visit);
    // The token is used up, so it is removed from the address.
    void navigate({ to: path.welcome(), hash: "", replace: true });
  });
  return (
    <Front title={words.title} lead={words.accountLead}>
      <AccountForm
        action={words.makeAccount}
        mutation={make}
        onSubmit={(account) => make.mutate({ token, ...account })}
      />
    </Front>
  );
}

function SignedIn({ visit }: { visit: Visit }) {
  const { person } = visit;
  const [first] = person?.memberships ?? [];
  if (person === null) return null;
  if (first === undefined)
    return (
      <Front title={words.hello(person.name)}>
        <Text>{person.operator ? words.operatorOnly : words.nowhere}</Text>
        {person.operator && <ButtonLink to={path.operator()}>{shellTexts.operatorArea}</ButtonLink>}
      </Front>
    );
  return (
    <Front title={words.hello(person.name)} lead={words.stepsLead} size={760}>
      <Steps org={first} baseUrl={visit.base_url} email={person.email} />
    </Front>
  );
}
