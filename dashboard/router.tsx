// The table of pages, in code. Each page is a separate chunk, loaded when it is opened or its link is hovered.
import {
  createRootRoute,
  createRoute,
  createRouter,
  redirect,
  lazyRouteComponent as lazily,
  Outlet,
} from "@tanstack/react-router";
import { Front } from "./components/front.tsx";
import { Link } from "./components/link.tsx";
import { Fallen, Loading } from "./components/states.tsx";
import { parseSearch, stringifySearch } from "./filters.ts";
import { loadPart } from "./load-part.ts";
import { HomePage } from "./pages/home.tsx";
import {
  OPERATOR_PAGES,
  type OperatorPage,
  ORGANIZATION_PAGES,
  type OrganizationPage,
  path,
} from "./path-builder.ts";
import { stateTexts } from "./components/texts.ts";

const lazyRouteComponent: typeof lazily = (load, name) => lazily(() => loadPart(load), name);

type PageLoader = ReturnType<typeof lazyRouteComponent>;

const organizationPages: Partial<Record<OrganizationPage, PageLoader>> = {
  overview: lazyRouteComponent(() => import("./pages/overview/page.tsx"), "OverviewPage"),
  models: lazyRouteComponent(() => import("./pages/models/page.tsx"), "ModelsPage"),
  playground: lazyRouteComponent(() => import("./pages/playground/page.tsx"), "PlaygroundPage"),
  keys: lazyRouteComponent(() => import("./pages/keys/page.tsx"), "KeysPage"),
  activity: lazyRouteComponent(() => import("./pages/activity/page.tsx"), "ActivityPage"),
  usage: lazyRouteComponent(() => import("./pages/usage/page.tsx"), "UsagePage"),
  billing: lazyRouteComponent(() => import("./pages/billing/page.tsx"), "BillingPage"),
  research: lazyRouteComponent(() => import("./pages/research/page.tsx"), "ResearchPage"),
  alerts: lazyRouteComponent(() => import("./pages/alerts/page.tsx"), "AlertsPage"),
  audit: lazyRouteComponent(() => import("./pages/audit/page.tsx"), "AuditPage"),
  settings: lazyRouteComponent(() => import("./pages/settings/page.tsx"), "SettingsPage"),
  team: lazyRouteComponent(() => import("./pages/team/page.tsx"), "TeamPage"),
};

const operatorPages: Partial<Record<OperatorPage, PageLoader>> = {
  home: lazyRouteComponent(() => import("./pages/operator/home/page.tsx"), "OperatorHomePage"),
  organizations: lazyRouteComponent(() => import("./pages/organizations/page.tsx"), "OrganizationsPage"),
  requests: lazyRouteComponent(() => import("./pages/operator/requests/page.tsx"), "OperatorRequestsPage"),
  credits: lazyRouteComponent(() => import("./pages/operator/credits/page.tsx"), "CreditsPage"),
  entitlements: lazyRouteComponent(
    () => import("./pages/operator/entitlements/page.tsx"),
    "EntitlementsPage",
  ),
  people: lazyRouteComponent(() => import("./pages/operator/people/page.tsx"), "PeoplePage"),
  routes: lazyRouteComponent(() => import("./pages/operator/routes/page.tsx"), "RoutesPage"),
  providers: lazyRouteComponent(() => import("./pages/operator/providers/page.tsx"), "ProvidersPage"),
  health: lazyRouteComponent(() => import("./pages/operator/health/page.tsx"), "HealthPage"),
  ledger: lazyRouteComponent(() => import("./pages/operator/ledger/page.tsx"), "LedgerPage"),
  audit: lazyRouteComponent(() => import("./pages/operator/audit/page.tsx"), "OperatorAuditPage"),
  account: lazyRouteComponent(() => import("./pages/operator/account/page.tsx"), "AccountPage"),
};

const NotFound = () => (
  <Front title={stateTexts.notFound}>
    <Link to={path.home()}>{stateTexts.home}</Link>
  </Front>
);

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });
const home = createRoute({ getParentRoute: () => root, path: "/", component: HomePage });
const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  component: lazyRouteComponent(() => import("./pages/sign-in/page.tsx"), "SignInPage"),
});

const welcome = createRoute({
  getParentRoute: () => root,
  path: "/welcome",
  component: lazyRouteComponent(() => import("./pages/welcome/page.tsx"), "WelcomePage"),
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: "/invitation",
  component: lazyRouteComponent(() => import("./pages/invitation/page.tsx"), "InvitationPage"),
});
const reset = createRoute({
  getParentRoute: () => root,
  path: "/reset",
  component: lazyRouteComponent(() => import("./pages/reset/page.tsx"), "ResetPage"),
});

const device = createRoute({
  getParentRoute: () => root,
  path: "/device",
  component: lazyRouteComponent(() => import("./pages/device/page.tsx"), "DevicePage"),
});

const organization = createRoute({
  getParentRoute: () => root,
  path: "/o/$org",
  component: lazyRouteComponent(() => import("./pages/organization-layout.tsx"), "OrganizationLayout"),
});
/** A bare address redirects to the first page, without a history entry that Back would return to. */
const toOverview = createRoute({
  getParentRoute: () => organization,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: path.organization(params.org), replace: true });
  },
});
const ofOrganization = ORGANIZATION_PAGES.flatMap((page) => {
  const component = organizationPages[page];
  return component === undefined
    ? []
    : [createRoute({ getParentRoute: () => organization, path: page, component })];
});

const oneKey = createRoute({
  getParentRoute: () => organization,
  path: "keys/$key",
  component: lazyRouteComponent(() => import("./pages/keys/key-page.tsx"), "KeyPage"),
});

const operator = createRoute({
  getParentRoute: () => root,
  path: "/operator",
  component: lazyRouteComponent(() => import("./pages/operator-layout.tsx"), "OperatorLayout"),
});
const toOperatorsHome = createRoute({
  getParentRoute: () => operator,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: path.operator("home"), replace: true });
  },
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
    welcome,
    invitation,
    reset,
    device,
    organization.addChildren([toOverview, ...ofOrganization, oneKey]),
    operator.addChildren([toOperatorsHome, ...ofOperator]),
  ]),
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  scrollRestoration: true,
  defaultPendingComponent: () => <Loading lines={6} />,
  defaultErrorComponent: ({ error }) => <Fallen error={error} />,
});
