// Server state: asked again only where that can help, and never from a tab that nobody looks at.
import { QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "./client.ts";

/** What an organization does not show may be because one is no member any more: the frame asks who one is. */
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
      // A browser that calls itself offline may reach a gateway beside it; and what fails says so instead of waiting.
      networkMode: "always",
      refetchIntervalInBackground: false,
    },
    mutations: { retry: false, networkMode: "always" },
  },
});
