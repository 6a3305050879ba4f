// Who is signed in, and where they may go.
import { queryOptions } from "@tanstack/react-query";
import type { AppAnswer } from "../../src/contract/app.ts";
import { ApiError, get } from "./client.ts";
import { api } from "./paths.ts";

export type Role = "owner" | "admin" | "billing" | "developer" | "viewer";
export interface Session {
  person: { id: string; name: string; email: string; operator: boolean; two_factor: boolean };
  organizations: { id: string; name: string; role: Role }[];
  base_url: string;
}

/** What everybody may ask: somebody signed in or nobody, and the ways to sign in. */
export type Visit = AppAnswer<"GET /session">;

export const visitQuery = queryOptions({
  queryKey: ["visit"],
  queryFn: ({ signal }) => get<Visit>(api.session(), {}, signal),
});

/** Fails with 401 where nobody is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: async ({ signal }) => sessionOf(await get<Visit>(api.session(), {}, signal)),
  staleTime: 60_000,
});

function sessionOf({ person, base_url }: Visit): Session {
  if (person === null)
    throw new ApiError({
      status: 401,
      code: "not_signed_in",
      message: "Nobody is signed in.",
      requestId: null,
      param: null,
    });
  const organizations = person.memberships.map(({ org, name, role }) => ({ id: org, name, role }));
  return { person, organizations, base_url };
}
