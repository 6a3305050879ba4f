// What the dashboard reads and changes beside the operator's use-cases, put together for its routes: `src/reporting` answers
// from the record that billing is made of. Ids passed admission; what does not exist is null.
import type { z } from "zod";
import type * as catalogueShapes from "../api/shapes/catalogue.ts";
import type * as operatorShapes from "../api/shapes/operator.ts";
import type * as spendShapes from "../api/shapes/spend.ts";
import type { Actor } from "../domain/actor.ts";
import type { AuditNote } from "../domain/audit-note.ts";
import { changedMeanwhile } from "../domain/row-version.ts";
import { renameOrganization } from "../registry/organizations.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { People } from "../people/people.ts";
import { auditNotes } from "../registry/audit-notes.ts";
import type { Publisher } from "../releases/publish.ts";
import { activityOf, activityPage } from "../reporting/activity.ts";
import type { ActivityQuery } from "../reporting/activity-filter.ts";
import { activityHistogram } from "../reporting/activity-histogram.ts";
import type { AttentionPorts } from "../reporting/attention.ts";
import { type AuditQuery, type AuditSight, auditPage } from "../reporting/audit-rows.ts";
import {
  billingSums,
  type LedgerQuery,
  ledgerPage,
  openHolds,
  type PageQuery,
  topUpsPage,
} from "../reporting/billing.ts";
import { estimateFor, modelsOf } from "../reporting/catalogue.ts";
import { creditsPage, refundableOf } from "../reporting/credits.ts";
import { entitlementOf, entitlementRows } from "../reporting/entitlements.ts";
import { credentialOf, keyDay, keysByMaker, makersOf } from "../reporting/key-makers.ts";
import { LabelBook } from "../reporting/labels.ts";
import { reportOnLedger } from "../reporting/ledger-report.ts";
import { managementKeyRows } from "../reporting/management-keys.ts";
import { firstOrganization, organizationNamed, organizationNames } from "../reporting/organization-names.ts";
import { organizationRow, organizationsPage } from "../reporting/organizations.ts";
import { overviewOf } from "../reporting/overview.ts";
import { platformHealth, type PlatformPorts } from "../reporting/platform.ts";
import { providerRows } from "../reporting/providers.ts";
import { signedReceiptOf, type ReceiptPorts } from "../reporting/receipts.ts";
import { releasesPage, routeRow, routeRows, verifyRelease } from "../reporting/routes.ts";
import { supportBundleNow, type SupportPorts } from "../reporting/support-bundle.ts";
import { type UsageQuery, usageOf } from "../reporting/usage.ts";
import { managementKeys } from "./management-keys.ts";
import type { Operator } from "./operator.ts";
import { providersByHand, type ProviderPorts } from "./providers.ts";
import { reasonedCredits } from "./reasoned-credits.ts";
import { research } from "./research.ts";

export interface DeskPorts
  extends Omit<PlatformPorts, "ledger">,
    Pick<ProviderPorts, "breakers" | "health" | "providers">,
    Pick<ReceiptPorts, "receipts">,
    AttentionPorts,
    Pick<SupportPorts, "settings"> {
  ledger: Ledger;
  people: People;
  operator: Operator;
  publisher: Publisher;
  flushRequestLog(): Promise<void>;
}

export type Desk = ReturnType<typeof createDesk>;

export function createDesk(ports: DeskPorts) {
  const { sql, clock, ledger, publisher } = ports;
  const notes = auditNotes(sql, clock);
  const note = (line: AuditNote): Promise<void> => notes.note(line);
  const standings = () => publisher.standings();
  const on = { ...ports, note, labels: new LabelBook(sql, ledger), standings };
  return {
    ...notes,
    /** Throws when the name is not `from` any more. */
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
    organizationNames: (ids: readonly string[]) => organizationNames(sql, ids),
    firstOrganization: () => firstOrganization(sql),
    organizationNamed: (id: string) => organizationNamed(sql, id),
    keyMakers: (keyIds: readonly string[]) => makersOf(sql, keyIds),
    keysByMaker: (organizationId: string, maker?: string) => keysByMaker(on, organizationId, maker),
    keyDay: (organizationId: string, keyId: string) => keyDay(on, organizationId, keyId),
    credentialOf: (organizationId: string, keyId: string) => credentialOf(sql, organizationId, keyId),
    activity: (organizationId: string, query: ActivityQuery) => activityPage(on, organizationId, query),
    activityHistogram: (organizationId: string, query: z.output<typeof spendShapes.histogramQuery>) =>
      activityHistogram(on, organizationId, query),
    activityOf: (organizationId: string, requestId: string, { platform }: { platform: boolean }) =>
      activityOf(on, organizationId, { requestId, platform }),
    receiptOf: (organizationId: string, requestId: string) => signedReceiptOf(on, organizationId, requestId),
    usage: (organizationId: string, query: UsageQuery) => usageOf(on, organizationId, query),
    overview: (organizationId: string, query: z.output<typeof spendShapes.overviewQuery>) =>
      overviewOf(on, organizationId, query),
    billing: (organizationId: string) => billingSums(on, organizationId),
    holds: (organizationId: string, page: PageQuery) => openHolds(on, organizationId, page),
    ledgerPage: (organizationId: string, query: LedgerQuery) => ledgerPage(on, organizationId, query),
    topUps: (organizationId: string, page: PageQuery) => topUpsPage(sql, organizationId, page),
    models: (organizationId: string) => modelsOf(on, organizationId),
    estimate: async (query: z.output<typeof catalogueShapes.estimateQuery>) => estimateFor(on, query),
    entitlements: (organizationId: string | null) => entitlementRows(on, organizationId),
    entitlement: (id: string) => entitlementOf(on, id),
    audit: (organizationId: string | null, query: AuditQuery, sight: AuditSight) =>
      auditPage(on, organizationId, { query, sight }),
    allOrganizations: (query: z.output<typeof operatorShapes.organizationsQuery>) =>
      organizationsPage(on, query),
    organizationRow: (id: string) => organizationRow(on, id),
    allCredits: (query: z.output<typeof operatorShapes.creditsQuery>) => creditsPage(on, query),
    refundable: (request: string) => refundableOf(on, request),
    allRoutes: () => routeRows(on),
    routeRow: (route: string) => routeRow(on, route),
    verifyRelease: (jws: string) => verifyRelease(on, jws),
    releaseHistory: (query: z.output<typeof operatorShapes.releasesQuery>) => releasesPage(on, query),
    trustedKeys: () => publisher.trustedKeys().map((id) => ({ id })),
    providers: () => providerRows(on),
    supportBundle: () => supportBundleNow(on),
    health: () => platformHealth(on),
    ledgerReport: () => reportOnLedger(on),
    managementKeys: () => managementKeyRows(on),
  };
}
