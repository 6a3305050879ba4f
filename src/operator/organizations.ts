// Organizations: who owns credits and keys (specification 1).
import type { OrganizationJson } from "../contract/admin.ts";
import type { Operator } from "../contract/operator.ts";
import type { Ledger, OrganizationRecord } from "../ledger/ledger.ts";
import { newId } from "../lib/id.ts";
import { printList, printTime } from "./print.ts";

type Store = Pick<Ledger, "createOrganization" | "organizations">;

export const organizations = (ledger: Store): Operator["organizations"] => ({
  create: async ({ name }, actor) =>
    printOrganization(await ledger.createOrganization({ id: newId("org"), name }, actor)),
  list: async () => printList((await ledger.organizations()).map(printOrganization)),
});

const printOrganization = (record: OrganizationRecord): OrganizationJson => ({
  id: record.id,
  name: record.name,
  created_at: printTime(record.createdAtMs),
});
