// Changes made from the dashboard besides the operator's use-cases, put together for the endpoints: each
// writes an audit line. Ids have passed admission.
import type { Actor } from "../domain/actor.ts";
import { changedMeanwhile } from "../domain/row-version.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { People } from "../people/people.ts";
import { auditNotes } from "../registry/audit-notes.ts";
import { renameOrganization } from "../registry/organizations.ts";
import type { Publisher } from "../releases/publish.ts";
import { managementKeys } from "./management-keys.ts";
import type { Operator } from "./operator.ts";
import { type ProviderPorts, providersByHand } from "./providers.ts";
import { reasonedCredits } from "./reasoned-credits.ts";
import { research } from "./research.ts";

interface ChangesPorts extends Omit<ProviderPorts, "listedRoutes"> {
  ledger: Ledger;
  people: People;
  operator: Pick<Operator, "credits">;
  publisher: Pick<Publisher, "hasRoute" | "listed">;
}

export type ChangesByHand = ReturnType<typeof createChanges>;

/** Every method throws `Refusal` or `OperatorRefusal`, and has then changed nothing. */
export function createChanges(ports: ChangesPorts) {
  const { ledger, publisher } = ports;
  const { note } = auditNotes(ports.sql, ports.clock);
  const on = { ...ports, note, listedRoutes: () => publisher.listed() };
  return {
    note,
    /** Throws if the name is no longer `from`. */
    async renameOrganization(
      organizationId: string,
      change: { from: string; to: string },
      actor: Actor,
    ): Promise<void> {
      const renamed = await renameOrganization(ledger, organizationId, { ...change, actor });
      if (!renamed) throw changedMeanwhile();
    },
    ...managementKeys(on),
    ...providersByHand(on),
    ...reasonedCredits(on),
    ...research(on),
  };
}
