// The first start of an empty store: an organization with $5.00 of credits and a key, so that the printed
// `curl` works when pasted (interfaces.md §1). Later starts find an organization and create nothing.
import { byItself } from "../domain/actor.ts";
import { NANO_PER_USD, nanoUsd } from "../domain/money.ts";
import { mintKey } from "../registry/secret.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { newId } from "../lib/id.ts";
import { createKey } from "../registry/api-keys.ts";
import { createFirstOrganization } from "../registry/organizations.ts";

const ACTOR = byItself("first start");
const DEMO_CREDITS = nanoUsd(5n * NANO_PER_USD);

/**
 * Creates the demo organization in an empty store; returns its key's secret, or null if the store is in use.
 */
export async function firstStart(ledger: Ledger): Promise<string | null> {
  const organization = await createFirstOrganization(ledger, { id: newId("org"), name: "Demo" }, ACTOR);
  if (organization === null) return null;
  // A purchase, so that the demo may call the preview models, which are for paid workspaces.
  const topUp = {
    organizationId: organization.id,
    amount: DEMO_CREDITS,
    kind: "purchase",
    source: "demo",
    externalId: "first-start",
  } as const;
  await ledger.topUp(topUp, ACTOR);
  const keyId = newId("key");
  const { value, ...minted } = mintKey({ organizationId: organization.id, keyId });
  await createKey(
    ledger,
    {
      id: keyId,
      organizationId: organization.id,
      name: "Demo key",
      ...minted,
      scope: "standard",
      limit: null,
    },
    ACTOR,
  );
  return value;
}
