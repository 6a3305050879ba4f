// Every address of the dashboard, in one place. Pages never write a path by hand.

/** Pages of one organization, in the order of the navigation. */
export const ORGANIZATION_PAGES = [
  "overview",
  "keys",
  "usage",
  "activity",
  "billing",
  "models",
  "playground",
  "research",
  "team",
  "alerts",
  "audit",
  "settings",
] as const;
export type OrganizationPage = (typeof ORGANIZATION_PAGES)[number];

/** Pages of the operator, in the order of the navigation; the account is in the person's menu. */
export const OPERATOR_PAGES = [
  "home",
  "organizations",
  "requests",
  "credits",
  "routes",
  "entitlements",
  "providers",
  "health",
  "ledger",
  "people",
  "audit",
  "account",
] as const;
export type OperatorPage = (typeof OPERATOR_PAGES)[number];

export const path = {
  home: () => "/",
  signIn: () => "/sign-in",
  welcome: () => "/welcome",
  invitation: () => "/invitation",
  reset: () => "/reset",
  device: () => "/device",
  organization: (org: string, page: OrganizationPage = "overview") => `/o/${encodeURIComponent(org)}/${page}`,
  key: (org: string, key: string) => `/o/${encodeURIComponent(org)}/keys/${encodeURIComponent(key)}`,
  operator: (page: OperatorPage = "organizations") => `/operator/${page}`,
};
