// Who is signed in, and where they may go.
import { queryOptions } from "@tanstack/react-query";
import { get } from "./client.ts";

export type Role = "owner" | "admin" | "billing" | "developer" | "viewer";
export interface Session {
  person: { id: string; name: string; email: string; operator: boolean };
  organizations: { id: string; name: string; role: Role }[];
  base_url: string;
}

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => get<Session>("/app/v1/session", {}, signal),
  staleTime: 60_000,
});
