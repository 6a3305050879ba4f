// Approves Research Mode requests, for every API: the ledger enforces the second person, under its lock; this
// file checks that the requester may still ask.
import type { Actor } from "../domain/actor.ts";
import { INSTALLATION } from "../domain/actor.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import type { People } from "../people/people.ts";
import { allowance } from "../domain/roles.ts";
import type { Transactions } from "../ledger/ledger.ts";
import { type ApprovalTerms, approveEntitlement, type EntitlementRecord } from "../registry/entitlements.ts";

export interface ApprovalPorts {
  ledger: Transactions;
  /** Opened if a person asked; requests of the machine need no check. */
  people(): Promise<Pick<People, "membership" | "persons">>;
}

/** The input field that names the entitlement. */
type EntitlementField = "entitlement" | "id";

/**
 * Approves `record` until `expiresAtMs`, with a note. Returns the record as it is now, or null; throws if the
 * caller may not approve it.
 */
export async function approve(
  on: ApprovalPorts,
  record: EntitlementRecord,
  { actor, field, ...terms }: ApprovalTerms & { actor: Actor; field: EntitlementField },
): Promise<EntitlementRecord | null> {
  if (record.status === "requested" && !(await mayStillAsk(on, record)))
    throw new OperatorRefusal(
      "conflict",
      "The person who requested this entitlement may no longer request it. Decline or revoke it; someone who may request it has to do so again.",
      field,
    );
  const outcome = await approveEntitlement(on.ledger, record.id, terms, actor);
  if (outcome === "second_person_required") throw secondPerson(field);
  return outcome;
}

export const secondPerson = (field: EntitlementField): OperatorRefusal =>
  new OperatorRefusal(
    "second_person_required",
    "The same person requested this entitlement: in the dashboard, through a command-line login or with one of their management keys. Another operator has to decide it.",
    field,
  );

async function mayStillAsk(
  on: ApprovalPorts,
  { requester, organizationId }: Pick<EntitlementRecord, "organizationId" | "requester">,
): Promise<boolean> {
  if (requester === INSTALLATION) return true;
  const people = await on.people();
  const [person] = await people.persons([requester]);
  if (person === undefined) return false;
  if (person.operator) return true;
  const membership = await people.membership(organizationId, requester);
  return membership !== null && allowance(membership.role, "research.ask") !== null;
}
