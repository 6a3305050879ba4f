// The table of pages, in code. Each page is a chunk of its own, loaded when it is opened or pointed at.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
} from "@tanstack/react-router";
import { Front } from "./components/front.tsx";
import { Link } from "./components/link.tsx";
import { Failure, Loading } from "./components/states.tsx";
import { parseSearch, stringifySearch } from "./filters.ts";
import { HomePage } from "./pages/home.tsx";
import { OperatorLayout } from "./pages/operator-layout.tsx";
import { OrganizationLayout } from "./pages/organization-layout.tsx";
import {
  OPERATOR_PAGES,
  type OperatorPage,
  ORGANIZATION_PAGES,
  type OrganizationPage,
  path,
} from "./path-builder.ts";
import { texts } from "./texts.ts";

type PageLoader = ReturnType<typeof lazyRouteComponent>;

const organizationPages: Partial<Record<OrganizationPage, PageLoader>> = {
  keys: lazyRouteComponent(() => import("./pages/keys/page.tsx"), "KeysPage"),
};

const operatorPages: Partial<Record<OperatorPage, PageLoader>> = {
  organizations: lazyRouteComponent(() => import("./pages/organizations/page.tsx"), "OrganizationsPage"),
};

const NotFound = () => (
  <Front title={texts.states.notFound}>
    <Link to={path.home()}>{texts.states.home}</Link>
  </Front>
);

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });
const home = createRoute({ getParentRoute: () => root, path: "/", component: HomePage });
const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  component: lazyRouteComponent(() => import("./pages/sign-in.tsx"), "SignInPage"),
});

const organization = createRoute({
  getParentRoute: () => root,
  path: "/o/$org",
  component: OrganizationLayout,
});
const ofOrganization = ORGANIZATION_PAGES.flatMap((page) => {
  const component = organizationPages[page];
  return component === undefined
    ? []
    : [createRoute({ getParentRoute: () => organization, path: page, component })];
});

const operator = createRoute({
  getParentRoute: () => root,
  path: "/operator",
  component: OperatorLayout,
});
const ofOperator = OPERATOR_PAGES.flatMap((page) => {
  const component = operatorPages[page];
  return component === undefined
    ? []
    : [createRoute({ getParentRoute: () => operator, path: page, component })];
});

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    signIn,
    organization.addChildren(ofOrganization),
    operator.addChildren(ofOperator),
  ]),
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  scrollRestoration: true,
  defaultPendingComponent: () => <Loading lines={6} />,
  defaultErrorComponent: ({ error }) => <Failure error={error} retry={() => location.reload()} />,
});
