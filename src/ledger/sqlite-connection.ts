// Everything that is prepared on the one connection that writes. Built anew when the store is reopened: statements of a
// connection that saw an I/O error are not trusted (money.md §2).
import type { SqliteStore } from "../store/sqlite.ts";
import type { AuditLogRecord } from "./ledger.ts";
import { readAuditLog } from "./sqlite-audit-log.ts";
import { SqliteEntitlements } from "./sqlite-entitlements.ts";
import { SqliteKeys } from "./sqlite-keys.ts";
import { SqliteLoad } from "./sqlite-load.ts";
import { SqliteManagementKeys } from "./sqlite-management-keys.ts";
import { SqliteOrganizations } from "./sqlite-organizations.ts";
import { SqliteReleases } from "./sqlite-releases.ts";
import { SqliteRequests } from "./sqlite-requests.ts";
import { SqliteWrite } from "./sqlite-write.ts";

export class SqliteConnection {
  readonly load: SqliteLoad;
  readonly write: SqliteWrite;
  readonly organizations: SqliteOrganizations;
  readonly keys: SqliteKeys;
  readonly entitlements: SqliteEntitlements;
  readonly releases: SqliteReleases;
  readonly requests: SqliteRequests;
  readonly managementKeys: SqliteManagementKeys;
  readonly auditLog: (filter: { organizationId?: string; limit: number }) => AuditLogRecord[];

  constructor({ writer, dataKey }: Pick<SqliteStore, "writer" | "dataKey">) {
    this.load = new SqliteLoad(writer);
    this.write = new SqliteWrite(writer, dataKey);
    this.organizations = new SqliteOrganizations(writer);
    this.keys = new SqliteKeys(writer, this.organizations);
    this.entitlements = new SqliteEntitlements(writer, this.organizations);
    this.releases = new SqliteReleases(writer);
    this.requests = new SqliteRequests(writer, dataKey);
    this.managementKeys = new SqliteManagementKeys(writer);
    this.auditLog = (filter) => readAuditLog(writer, filter);
  }
}
