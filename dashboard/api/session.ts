// Who is signed in, and where they may go. The server answers this to everyone; the pages treat nobody signed in as a
// 401.
import { queryOptions } from "@tanstack/react-query";
import type { Role } from "../../src/domain/roles.ts";
import { ApiError, get } from "./client.ts";
import { addressOf, type Answer as AnswerOf } from "./routes.ts";

export type { Role };
type Answer = AnswerOf<"GET /session">;
export interface Session extends Omit<Answer, "person"> {
  person: NonNullable<Answer["person"]>;
  organizations: { id: string; name: string; role: Role }[];
}

/** The public answer: the person signed in, if any, and the ways to sign in. */
export type Visit = Answer;

const SESSION = addressOf("GET /session", {});

export const visitQuery = queryOptions({
  queryKey: ["visit"],
  queryFn: ({ signal }) => get<Visit>(SESSION, signal),
});

/** Checks whether the gateway answers; the result is recorded (reachable.ts). */
export const askAgain = (): Promise<void> =>
  get(SESSION).then(
    () => {},
    () => {},
  );

/** Fails with 401 if nobody is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: async ({ signal }): Promise<Session> => {
    const answer = await get<Answer>(SESSION, signal);
    if (answer.person === null) throw signedOut();
    const organizations = answer.person.memberships.map(({ org, name, role }) => ({ id: org, name, role }));
    return { ...answer, person: answer.person, organizations };
  },
  staleTime: 60_000,
});

const signedOut = (): ApiError =>
  new ApiError({
    status: 401,
    code: "not_signed_in",
    message: "Sign in first.",
    requestId: null,
    param: null,
  });
