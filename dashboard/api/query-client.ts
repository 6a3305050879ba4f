// Server state: refetched only when that can help, and never in a tab that is not visible.
import { QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "./client.ts";

/** A failed read of an organization may mean that the person is no longer a member, so refetch the session. */
const unseen = new QueryCache({
  onError: (error, { queryKey }) => {
    if (queryKey[0] === "orgs" && error instanceof ApiError && error.status === 404)
      void queryClient.invalidateQueries({ queryKey: ["session"] });
  },
});

export const queryClient: QueryClient = new QueryClient({
  queryCache: unseen,
  defaultOptions: {
    queries: {
      retry: (failures, error) => failures < 2 && (!(error instanceof ApiError) || error.status >= 500),
      staleTime: 5_000,
      // A browser that reports being offline may still reach a local gateway; and failures are shown at once instead
      // of waiting.
      networkMode: "always",
      refetchIntervalInBackground: false,
    },
    mutations: { retry: false, networkMode: "always" },
  },
});
