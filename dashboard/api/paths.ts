// Every address of the API that the dashboard calls.
const org = (id: string): string => `/app/v1/orgs/${encodeURIComponent(id)}`;

export const api = {
  keys: (id: string) => `${org(id)}/keys`,
  revokeKey: (id: string, key: string) => `${org(id)}/keys/${encodeURIComponent(key)}/revoke`,
  limitKey: (id: string, key: string) => `${org(id)}/keys/${encodeURIComponent(key)}/limit`,
};
