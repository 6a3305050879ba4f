// The first start of an empty store: an organization with $5.00 of credits and a key, so that the printed
// `curl` works when pasted (interfaces.md §1). Later starts find an organization and create nothing.
import { byItself } from "../domain/actor.ts";
import { NANO_PER_USD, nanoUsd } from "../domain/money.ts";
import { mintKey } from "../registry/secret.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { newId } from "../lib/id.ts";
import { createKey, findKey } from "../registry/api-keys.ts";
import { createFirstOrganization, findOrganization } from "../registry/organizations.ts";

const ACTOR = byItself("first start");
const DEMO_CREDITS = nanoUsd(5n * NANO_PER_USD);

/** What a start creates in an empty store, named before: a start that loses its database in the middle does the rest again. */
export type Demo = ReturnType<typeof newDemo>;

export function newDemo() {
  const organizationId = newId("org");
  const keyId = newId("key");
  return { organizationId, keyId, minted: mintKey({ organizationId, keyId }) };
}

/**
 * Creates the demo organization in an empty store, or what is missing of it; returns its key's secret, or null if the store is in
 * use.
 */
export async function firstStart(
  ledger: Ledger,
  { organizationId, keyId, minted: { value, ...minted } }: Demo,
): Promise<string | null> {
  const organization = await createFirstOrganization(ledger, { id: organizationId, name: "Demo" }, ACTOR);
  if (organization === null && (await findOrganization(ledger, organizationId)) === null) return null;
  // A purchase, so that the demo may call the preview models, which are for paid workspaces.
  const topUp = {
    organizationId,
    amount: DEMO_CREDITS,
    kind: "purchase",
    source: "demo",
    externalId: "first-start",
  } as const;
  await ledger.topUp(topUp, ACTOR);
  if ((await findKey(ledger, keyId)) !== null) return value;
  await createKey(
    ledger,
    {
      id: keyId,
      organizationId,
      name: "Demo key",
      ...minted,
      scope: "standard",
      limit: null,
    },
    ACTOR,
  );
  return value;
}
