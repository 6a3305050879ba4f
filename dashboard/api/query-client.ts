// Server state: asked again only where that can help, and never from a tab that nobody looks at.
import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "./client.ts";

export const queryClient = new QueryClient({
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
