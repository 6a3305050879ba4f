// Organizations: the owners of credits and keys (specification 1).
import type { OrganizationJson } from "../api/shapes/records.ts";
import type { CreateOrganization, OrganizationRecordsQuery } from "../api/shapes/record-inputs.ts";
import type { Actor } from "../domain/actor.ts";
import type { Reader, Transactions } from "../ledger/ledger.ts";
import { newId } from "../lib/id.ts";
import { RECORDS_MAX } from "../domain/page-rows.ts";
import { printTime } from "../domain/print.ts";
import { unknownRecord } from "../domain/unknown-record.ts";
import {
  createOrganization,
  findOrganization,
  type OrganizationRecord,
  organizationsAfter,
} from "../registry/organizations.ts";
import { rowCursor } from "../reporting/cursors.ts";
import { type ListOf, pageById } from "./list.ts";

type Store = Transactions & Reader;

export const organizations = (ledger: Store) => ({
  create: async ({ name }: CreateOrganization, actor: Actor): Promise<OrganizationJson> =>
    printOrganization(await createOrganization(ledger, { id: newId("org"), name }, actor)),
  /** Oldest first. Throws `Refusal` for a cursor that no page returned. */
  async list({
    cursor,
    limit = RECORDS_MAX,
    search = "",
  }: OrganizationRecordsQuery): Promise<ListOf<OrganizationJson>> {
    const after = await rowCursor(cursor, async (id) => (await findOrganization(ledger, id)) !== null);
    const asked = { after, search, most: limit + 1 };
    return pageById((await organizationsAfter(ledger, asked)).map(printOrganization), limit);
  },
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
