// What the ledger knows, read from the database at the time of asking; 503 while it is away.
import { overloaded } from "../contract/overloaded.ts";
import { errorKind } from "../store/postgres-error.ts";
import type { Ledger } from "./ledger.ts";
import { readAuditLog } from "./postgres-audit-log.ts";
import { allEntitlements } from "./postgres-entitlements.ts";
import { findKey, keysOf } from "./postgres-keys.ts";
import { authenticateManagementKey } from "./postgres-management-keys.ts";
import { allOrganizations, findOrganization, readBalance } from "./postgres-organizations.ts";
import type { Asking } from "./postgres-query.ts";
import { allRoutes, findRelease, newestReleases } from "./postgres-releases.ts";
import { findRequest, readUsage } from "./postgres-requests.ts";

type Records = Pick<
  Ledger,
  | "organizations"
  | "organization"
  | "balance"
  | "keys"
  | "key"
  | "entitlements"
  | "releases"
  | "release"
  | "routes"
  | "request"
  | "usage"
  | "auditLog"
  | "authenticateManagementKey"
>;

export function records(from: { on: Asking; nowMs(): number }): Records {
  const { on } = from;
  return {
    organizations: () => available(allOrganizations(on)),
    organization: (id) => available(findOrganization(on, id)),
    balance: (organizationId) => available(readBalance(on, organizationId)),
    keys: (organizationId) => available(keysOf(on, organizationId, from.nowMs())),
    key: (keyId) => available(findKey(on, keyId, from.nowMs())),
    entitlements: (organizationId) => available(allEntitlements(on, organizationId, from.nowMs())),
    releases: () => available(newestReleases(on)),
    release: (digest) => available(findRelease(on, digest)),
    routes: () => available(allRoutes(on)),
    request: (requestId) => available(findRequest(on, requestId)),
    usage: (filter) => available(readUsage(on, filter)),
    auditLog: (filter) => available(readAuditLog(on, filter)),
    authenticateManagementKey: (id, digest) =>
      available(authenticateManagementKey(on, { id, digest }, from.nowMs())),
  };
}

/** A read of a database that is away is a refusal to try again, not a bug. */
export async function available<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw errorKind(error) === "operation" ? error : overloaded();
  }
}
