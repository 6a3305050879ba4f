// Every address of the API that the dashboard calls.
const org = (id: string): string => `/app/v1/orgs/${encodeURIComponent(id)}`;
const OPERATOR = "/app/v1/operator";

export const api = {
  keys: (id: string) => `${org(id)}/keys`,
  key: (id: string, key: string) => `${org(id)}/keys/${encodeURIComponent(key)}`,
  replaceKey: (id: string, key: string) => `${org(id)}/keys/${encodeURIComponent(key)}/replace`,
  revokeKey: (id: string, key: string) => `${org(id)}/keys/${encodeURIComponent(key)}/revoke`,
  activity: (id: string) => `${org(id)}/activity`,
  activityTail: (id: string) => `${org(id)}/activity/tail`,
  activityCsv: (id: string) => `${org(id)}/activity.csv`,
  request: (id: string, request: string) => `${org(id)}/activity/${encodeURIComponent(request)}`,
  receipt: (id: string, request: string) => `${org(id)}/activity/${encodeURIComponent(request)}/receipt`,
  usage: (id: string) => `${org(id)}/usage`,
  usageCsv: (id: string) => `${org(id)}/usage.csv`,
  overview: (id: string) => `${org(id)}/overview`,
  billing: (id: string) => `${org(id)}/billing`,
  holds: (id: string) => `${org(id)}/billing/holds`,
  ledger: (id: string) => `${org(id)}/billing/ledger`,
  ledgerCsv: (id: string) => `${org(id)}/billing/ledger.csv`,
  orders: (id: string) => `${org(id)}/billing/orders`,
  order: (id: string, order: string) => `${org(id)}/billing/orders/${encodeURIComponent(order)}`,
  autoTopUp: (id: string) => `${org(id)}/billing/auto-top-up`,
  retryAutoTopUp: (id: string) => `${org(id)}/billing/auto-top-up/retry`,
  card: (id: string) => `${org(id)}/billing/card`,
  settings: (id: string) => `${org(id)}/settings`,
  organizations: () => `${OPERATOR}/organizations`,
  ownerInvitations: (id: string) => `${OPERATOR}/organizations/${encodeURIComponent(id)}/invitations`,
};
