// Requires a session: people without one sign in first and then return to where they wanted to go.
import { useQuery } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ApiError } from "../api/client.ts";
import { type Session, sessionQuery } from "../api/session.ts";
import { Front } from "../components/front.tsx";
import { Redirect } from "../components/redirect.tsx";
import { Failure, Loading } from "../components/states.tsx";
import { path } from "../path-builder.ts";
import { shellTexts } from "../components/texts.ts";

/** How often a gateway that did not answer is retried. */
const AGAIN_MS = 5_000;

export function SignedIn({ children }: { children: (session: Session) => ReactNode }) {
  const session = useQuery({
    ...sessionQuery,
    refetchInterval: ({ state }) =>
      state.error === null || state.error instanceof ApiError ? false : AGAIN_MS,
  });
  if (session.data !== undefined) return children(session.data);
  if (session.isPending) return <Loading lines={6} />;
  if (session.error instanceof ApiError && session.error.status === 401) return <ToSignIn />;
  return (
    <Front title={shellTexts.product}>
      <Failure error={session.error} retry={() => void session.refetch()} />
    </Front>
  );
}

/** The only part that depends on the address: the frame of every page is not rendered again when that changes. */
function ToSignIn() {
  const next = useLocation({ select: ({ href }) => href });
  return <Redirect to={path.signIn()} search={{ next }} />;
}
