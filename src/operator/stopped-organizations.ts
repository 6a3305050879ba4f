// Organizations whose books do not add up: which they are, what is broken, and how an operator lets one go on (docs/operations.md).
import type {
  ResumedOrganizationJson,
  StoppedOrganizationJson,
  ViolationJson,
} from "../api/shapes/records.ts";
import type { StoppedQuery } from "../api/shapes/record-inputs.ts";
import type { Actor } from "../domain/actor.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { RECORDS_MAX } from "../domain/page-rows.ts";
import { printTime } from "../domain/print.ts";
import type { Ledger } from "../ledger/ledger.ts";
import {
  type StoppedOrganization,
  stoppedAfter,
  stoppedOrganizations,
  type Violations,
  wasStopped,
} from "../ledger/stops.ts";
import { rowCursor } from "../reporting/cursors.ts";
import type { ListOf } from "./list.ts";

type Store = Pick<Ledger, "read" | "resume">;

/** All of them, ordered by id. */
export const printStopped = async (ledger: Pick<Ledger, "read">): Promise<StoppedOrganizationJson[]> =>
  (await stoppedOrganizations(ledger)).map(printOne);

const printOne = ({ organizationId, sinceMs, violations }: StoppedOrganization): StoppedOrganizationJson => ({
  org: organizationId,
  since: printTime(sinceMs),
  violations: printViolations(violations),
});

export const printViolations = (violations: Violations): ViolationJson[] =>
  violations.map(({ invariant, organizationId, requestId, expected, found }) => ({
    invariant,
    org: organizationId,
    request_id: requestId,
    expected,
    found,
  }));

export const stopped = (ledger: Store) => ({
  /** Ordered by id; without a limit, as many as a page of records has. Throws `Refusal` for a cursor that no page returned. */
  async stopped({ cursor, limit = RECORDS_MAX }: StoppedQuery): Promise<ListOf<StoppedOrganizationJson>> {
    const after = (await rowCursor(cursor, (id) => wasStopped(ledger, id))) ?? "";
    const found = (await stoppedAfter(ledger, { after, most: limit + 1 })).map(printOne);
    const data = found.slice(0, limit);
    return { data, next_cursor: found.length > limit ? (data.at(-1)?.org ?? null) : null };
  },
  /**
   * Lets the organization go on, taking its entries as correct. Throws `OperatorRefusal` while something
   * repairable is not repaired.
   */
  async resume(org: string, reason: string, actor: Actor): Promise<ResumedOrganizationJson> {
    const outcome = await ledger.resume({ organizationId: org, reason }, actor);
    switch (outcome.kind) {
      case "resumed":
        return { org, reason };
      case "not_stopped":
        throw new OperatorRefusal("not_found", `The organization ${org} is not stopped.`, "org");
      case "broken":
        throw new OperatorRefusal(
          "conflict",
          `The balance of ${org} has to be repaired first: ${outcome.what} should be ${outcome.expected} but is ${outcome.found} (money in nano-USD). The runbook TollgateOrganizationStopped explains how.`,
          "org",
        );
    }
  },
});
