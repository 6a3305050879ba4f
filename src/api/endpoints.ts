// Every endpoint of the API, by noun.
import { requestsEndpoints } from "./activity.ts";
import { alertsEndpoints } from "./alerts.ts";
import { auditLogEndpoints } from "./audit-log.ts";
import { billingEndpoints } from "./billing.ts";
import { creditsEndpoints, paymentsEndpoints } from "./credits.ts";
import { devicesEndpoints } from "./devices.ts";
import { entitlementsEndpoints } from "./entitlements.ts";
import { homeEndpoints } from "./home.ts";
import { invitationsEndpoints } from "./invitations.ts";
import { keysEndpoints } from "./keys.ts";
import { loginsEndpoints, managementKeysEndpoints } from "./management-keys.ts";
import { modelsEndpoints } from "./models.ts";
import { organizationsEndpoints } from "./organizations.ts";
import { overviewEndpoints } from "./overview.ts";
import { peopleEndpoints } from "./people.ts";
import { ledgerEndpoints, platformEndpoints, providersEndpoints } from "./platform.ts";
import { rateLimitsEndpoints } from "./rate-limits.ts";
import { releasesEndpoints, routesEndpoints } from "./releases.ts";
import { searchEndpoints } from "./search.ts";
import { sessionEndpoints } from "./session.ts";
import { statementsEndpoints } from "./statements.ts";
import { evidenceEndpoints } from "./evidence.ts";
import { membersEndpoints, settingsEndpoints } from "./team.ts";
import { usageEndpoints } from "./usage.ts";
import type { Endpoint } from "./endpoint.ts";

const NOUNS = {
  organizations: organizationsEndpoints,
  credits: creditsEndpoints,
  payments: paymentsEndpoints,
  billing: billingEndpoints,
  statements: statementsEndpoints,
  evidence: evidenceEndpoints,
  keys: keysEndpoints,
  rateLimits: rateLimitsEndpoints,
  entitlements: entitlementsEndpoints,
  releases: releasesEndpoints,
  routes: routesEndpoints,
  people: peopleEndpoints,
  logins: loginsEndpoints,
  usage: usageEndpoints,
  requests: requestsEndpoints,
  ledger: ledgerEndpoints,
  search: searchEndpoints,
  session: sessionEndpoints,
  invitations: invitationsEndpoints,
  members: membersEndpoints,
  settings: settingsEndpoints,
  overview: overviewEndpoints,
  models: modelsEndpoints,
  alerts: alertsEndpoints,
  auditLog: auditLogEndpoints,
  home: homeEndpoints,
  providers: providersEndpoints,
  platform: platformEndpoints,
  devices: devicesEndpoints,
  managementKeys: managementKeysEndpoints,
} as const;

type Declared = (typeof NOUNS)[keyof typeof NOUNS][number];
type ByTarget = { [E in Declared as E["targets"][number]]: E };
export type TargetOf = keyof ByTarget;
export type EndpointAt<T extends TargetOf> = ByTarget[T];

/** With the noun of each. */
export const ENDPOINTS: readonly { noun: string; endpoint: Endpoint }[] = Object.entries(NOUNS).flatMap(
  ([noun, endpoints]) => endpoints.map((endpoint) => ({ noun, endpoint: endpoint as unknown as Endpoint })),
);
