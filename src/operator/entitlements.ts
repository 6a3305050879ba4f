// Research Mode entitlements (specification 5): requested, approved with an end, revoked. An approval says no more
// than it says: a closed route stays closed.
import type { EntitlementJson } from "../contract/admin.ts";
import { OperatorRefusal } from "../contract/admin-refusals.ts";
import type { Operator } from "../contract/operator.ts";
import type { EntitlementRecord, Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/id.ts";
import { printList, printTime, printTimeOrNull } from "./print.ts";
import { readFutureTime } from "./read.ts";
import { unknownRecord } from "./unknown-record.ts";

type Store = Pick<
  Ledger,
  "approveEntitlement" | "entitlements" | "organization" | "requestEntitlement" | "revokeEntitlement"
>;

export const entitlements = (ledger: Store, clock: Clock): Operator["entitlements"] => ({
  async request({ org, model, project }, actor) {
    const entitlement = { id: newId("ent"), organizationId: org, model, project };
    const record = await ledger.requestEntitlement(entitlement, actor);
    if (record === null) throw unknownRecord("organization", org, "org");
    return printEntitlement(record);
  },
  async approve({ id, expires }, actor) {
    const expiresAtMs = readFutureTime(expires, "expires", clock.nowMs());
    const record = await ledger.approveEntitlement(id, expiresAtMs, actor);
    if (record === null) throw unknownRecord("entitlement", id, "id");
    if (record.status !== "active" || record.expiresAtMs !== expiresAtMs) throw notRequested(record);
    return printEntitlement(record);
  },
  async revoke(id, actor) {
    const record = await ledger.revokeEntitlement(id, actor);
    if (record === null) throw unknownRecord("entitlement", id, "id");
    return printEntitlement(record);
  },
  async list(org) {
    if (org !== undefined && (await ledger.organization(org)) === null)
      throw unknownRecord("organization", org, "org");
    return printList((await ledger.entitlements(org)).map(printEntitlement));
  },
});

const notRequested = ({ id, status }: EntitlementRecord): OperatorRefusal =>
  new OperatorRefusal(
    "conflict",
    `The entitlement ${id} is ${status}; only a requested one can be approved. Request a new one.`,
    "id",
  );

const printEntitlement = (record: EntitlementRecord): EntitlementJson => ({
  id: record.id,
  org: record.organizationId,
  model: record.model,
  project: record.project,
  status: record.status,
  requested_by: record.requestedBy,
  approved_by: record.approvedBy,
  created_at: printTime(record.createdAtMs),
  expires_at: printTimeOrNull(record.expiresAtMs),
});
