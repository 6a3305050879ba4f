// The table of pages, in code. Each page is a chunk of its own, loaded when it is opened or pointed at.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from "@tanstack/react-router";
import { parseSearch, stringifySearch } from "./filters.ts";

const root = createRootRoute({ component: Outlet });

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  component: lazyRouteComponent(() => import("./pages/sign-in.tsx"), "SignInPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([signIn]),
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  scrollRestoration: true,
});
