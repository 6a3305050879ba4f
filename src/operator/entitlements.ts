// Research Mode entitlements (specification 5): requested, approved with an expiry, revoked. An approval has
// no further effect: a closed route stays closed.
import type { EntitlementJson } from "../api/shapes/records.ts";
import type { EntitlementRecordsQuery, RequestEntitlement } from "../api/shapes/record-inputs.ts";
import type { Actor } from "../domain/actor.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import {
  OPEN_REQUESTS_MAX,
  REQUESTS_A_DAY_MAX,
  type TooManyRequests,
} from "../registry/entitlement-rules.ts";
import type { Transactions } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/id.ts";
import { approve, type ApprovalPorts } from "./approval.ts";
import { RECORDS_MAX } from "../domain/page-rows.ts";
import { checkResearch, type Released } from "./released-model.ts";
import { readFutureTime } from "../domain/read.ts";
import { unknownRecord } from "../domain/unknown-record.ts";
import {
  type EntitlementRecord,
  findEntitlement,
  requestEntitlement,
  revokeEntitlement,
} from "../registry/entitlements.ts";
import { entitlementsInOrder, isListed } from "../registry/entitlement-pages.ts";
import { rowCursor } from "../reporting/cursors.ts";
import { printEntitlement } from "../reporting/entitlements.ts";
import { type ListOf, pageById } from "./list.ts";
import { assertOrganization } from "./organizations.ts";

interface EntitlementsPorts extends ApprovalPorts {
  ledger: Transactions;
  publisher: Released;
  clock: Clock;
}

export const entitlements = (on: EntitlementsPorts) => ({
  async request({ org, model, project }: RequestEntitlement, actor: Actor): Promise<EntitlementJson> {
    await checkResearch(on.publisher, model);
    const entitlement = { id: newId("ent"), organizationId: org, model, project };
    const record = await requestEntitlement(on.ledger, entitlement, actor);
    if (record === null) throw unknownRecord("organization", org, "org");
    if (typeof record === "string") throw tooManyRequests(record);
    return printEntitlement(record);
  },
  async approve({ id, expires }: { id: string; expires: string }, actor: Actor): Promise<EntitlementJson> {
    const expiresAtMs = readFutureTime(expires, "expires", on.clock.nowMs());
    const found = await findEntitlement(on.ledger, id);
    const record = found === null ? null : await approve(on, found, { expiresAtMs, actor, field: "id" });
    if (record === null) throw unknownRecord("entitlement", id, "id");
    // A repeated call gets the first response; another person's decision does not count as a repetition.
    const theirs = record.approvedBy === actor.id && record.expiresAtMs === expiresAtMs;
    if (record.status !== "active" || !theirs) throw notRequested(record);
    return printEntitlement(record);
  },
  async revoke(id: string, actor: Actor): Promise<EntitlementJson> {
    const record = await revokeEntitlement(on.ledger, id, actor);
    if (record === null) throw unknownRecord("entitlement", id, "id");
    return printEntitlement(record);
  },
  /** In the order of the requests. Throws `Refusal` for a cursor that no page returned. */
  async list({
    org,
    cursor,
    limit = RECORDS_MAX,
    search = "",
    status,
  }: EntitlementRecordsQuery): Promise<ListOf<EntitlementJson>> {
    if (org !== undefined) await assertOrganization(on.ledger, org);
    const records = await entitlementsInOrder(on.ledger, "oldest", {
      organizationId: org,
      state: status,
      search: { text: search, actors: [] },
      after: await rowCursor(cursor, (id) => isListed(on.ledger, { id, organizationId: org })),
      most: limit + 1,
    });
    return pageById(records.map(printEntitlement), limit);
  },
});

/** The refusal for an organization with too many requests. */
export const tooManyRequests = (why: TooManyRequests): OperatorRefusal =>
  new OperatorRefusal(
    "conflict",
    why === "too_many_open"
      ? `The organization has ${OPEN_REQUESTS_MAX} undecided requests, which is the maximum. Withdraw one, or wait for a decision.`
      : `The organization has made ${REQUESTS_A_DAY_MAX} requests within a day, which is the maximum. Try again tomorrow.`,
  );

const notRequested = ({ id, status }: EntitlementRecord): OperatorRefusal =>
  new OperatorRefusal(
    "conflict",
    `The entitlement ${id} is ${status}; only a requested one can be approved. Request a new one.`,
    "id",
  );
