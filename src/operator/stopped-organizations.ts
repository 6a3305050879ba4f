// Organizations whose books do not add up: which they are, what is broken, and how an operator lets one go on (docs/operations.md).
import type {
  ResumedOrganizationJson,
  StoppedOrganizationJson,
  ViolationJson,
} from "../api/shapes/records.ts";
import type { Actor } from "../domain/actor.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { printTime } from "../domain/print.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { stoppedOrganizations, type Violations } from "../ledger/stops.ts";

type Store = Pick<Ledger, "read" | "resume">;

/** All of them, ordered by id. */
export const printStopped = async (ledger: Pick<Ledger, "read">): Promise<StoppedOrganizationJson[]> =>
  (await stoppedOrganizations(ledger)).map(({ organizationId, sinceMs, violations }) => ({
    org: organizationId,
    since: printTime(sinceMs),
    violations: printViolations(violations),
  }));

export const printViolations = (violations: Violations): ViolationJson[] =>
  violations.map(({ invariant, organizationId, requestId, expected, found }) => ({
    invariant,
    org: organizationId,
    request_id: requestId,
    expected,
    found,
  }));

export const stopped = (ledger: Store) => ({
  stopped: (): Promise<StoppedOrganizationJson[]> => printStopped(ledger),
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
