// The entry point of the dashboard: theme, server state, router.
import { localStorageColorSchemeManager, MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { queryClient } from "./api/query-client.ts";
import { router } from "./router.tsx";
import { ignoreSecondClicks } from "./second-click.ts";
import { theme, variables } from "./theme.ts";

const root = document.getElementById("root");
if (root === null) throw new Error("the page has no place for the dashboard");
ignoreSecondClicks();
createRoot(root).render(
  <MantineProvider
    theme={theme}
    cssVariablesResolver={variables}
    defaultColorScheme="auto"
    colorSchemeManager={localStorageColorSchemeManager({ key: "tollgate.theme" })}
  >
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </MantineProvider>,
);
