// Nobody passes without a session: those who have none sign in first and come back to where they wanted to go.
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useRouterState } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { ApiError } from "../api/client.ts";
import { type Session, sessionQuery } from "../api/session.ts";
import { Front } from "../components/front.tsx";
import { Failure, Loading } from "../components/states.tsx";
import { path } from "../path-builder.ts";
import { texts } from "../texts.ts";

export function SignedIn({ children }: { children: (session: Session) => ReactNode }) {
  const session = useQuery(sessionQuery);
  if (session.data !== undefined) return children(session.data);
  if (session.isPending) return <Loading lines={6} />;
  if (session.error instanceof ApiError && session.error.status === 401) return <ToSignIn />;
  return (
    <Front title={texts.product}>
      <Failure error={session.error} retry={() => void session.refetch()} />
    </Front>
  );
}

/** Goes once, from the address of that moment: while the sign-in page is fetched, the address is its own already. */
function ToSignIn() {
  const navigate = useNavigate();
  const href = useRouterState({ select: ({ location }) => location.href });
  const [next] = useState(href);
  useEffect(() => void navigate({ to: path.signIn(), search: { next }, replace: true }), [navigate, next]);
  return <Loading lines={6} />;
}
