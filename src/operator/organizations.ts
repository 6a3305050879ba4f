// Organizations: the owners of credits and keys (specification 1).
import type { ListJson, OrganizationJson } from "../api/shapes/records.ts";
import type { CreateOrganization } from "../api/shapes/record-inputs.ts";
import type { Actor } from "../domain/actor.ts";
import type { Reader, Transactions } from "../ledger/ledger.ts";
import { newId } from "../lib/id.ts";
import { printList, printTime } from "../domain/print.ts";
import { unknownRecord } from "../domain/unknown-record.ts";
import {
  allOrganizations,
  createOrganization,
  findOrganization,
  type OrganizationRecord,
} from "../registry/organizations.ts";

type Store = Transactions & Reader;

export const organizations = (ledger: Store) => ({
  create: async ({ name }: CreateOrganization, actor: Actor): Promise<OrganizationJson> =>
    printOrganization(await createOrganization(ledger, { id: newId("org"), name }, actor)),
  list: async (): Promise<ListJson<OrganizationJson>> =>
    printList((await allOrganizations(ledger)).map(printOrganization)),
  assertThere: (org: string): Promise<void> => assertOrganization(ledger, org),
});

/** Throws if there is no such organization: with a management key the caller names it. */
export async function assertOrganization(ledger: Reader, org: string): Promise<void> {
  if ((await findOrganization(ledger, org)) === null) throw unknownRecord("organization", org, "org");
}

const printOrganization = (record: OrganizationRecord): OrganizationJson => ({
  id: record.id,
  name: record.name,
  created_at: printTime(record.createdAtMs),
});
