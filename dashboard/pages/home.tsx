// `/`: redirects to the organization the person looked at last, to the operator's pages, or to the sign-in.
import { useQuery } from "@tanstack/react-query";
import { ApiError } from "../api/client.ts";
import { sessionQuery } from "../api/session.ts";
import { Front } from "../components/front.tsx";
import { Redirect } from "../components/redirect.tsx";
import { Failure, Loading } from "../components/states.tsx";
import { lastOrganization } from "../last-organization.ts";
import { path } from "../path-builder.ts";
import { shellTexts } from "../components/texts.ts";

export function HomePage() {
  const { data, error, isPending, refetch } = useQuery(sessionQuery);
  if (isPending) return <Loading lines={6} />;
  if (error instanceof ApiError && error.status === 401) return <Redirect to={path.signIn()} />;
  if (data === undefined)
    return (
      <Front title={shellTexts.product}>
        <Failure error={error} retry={() => void refetch()} />
      </Front>
    );
  const last = lastOrganization();
  const org = data.organizations.find(({ id }) => id === last) ?? data.organizations[0];
  if (org !== undefined) return <Redirect to={path.organization(org.id)} />;
  if (data.person.operator) return <Redirect to={path.operator("home")} />;
  return <Redirect to={path.welcome()} />;
}
