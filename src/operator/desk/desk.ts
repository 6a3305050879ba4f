// The desk, put together: what the dashboard reads and notes beside the operator's use-cases.
import type { Desk } from "../../contract/desk.ts";
import type { Operator } from "../../contract/operator.ts";
import type { People } from "../../contract/people.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Publisher } from "../../releases/publish.ts";
import { activity } from "./activity.ts";
import { activityHistogram } from "./activity-histogram.ts";
import type { AttentionPorts } from "./attention.ts";
import { auditNotes } from "./audit-notes.ts";
import { auditRows } from "./audit-rows.ts";
import { billing } from "./billing.ts";
import { catalogue } from "./catalogue.ts";
import { house, type HousePorts } from "./house.ts";
import { keyMakers } from "./key-makers.ts";
import { LabelBook } from "./labels.ts";
import { organizationsDesk } from "./organizations.ts";
import { overview } from "./overview.ts";
import { providersDesk, type ProvidersPorts } from "./providers.ts";
import { receiptsDesk, type ReceiptPorts } from "./receipts.ts";
import { refunds } from "./refunds.ts";
import { research } from "./research.ts";
import { routesDesk } from "./routes.ts";
import { supportBundle, type SupportPorts } from "./support-bundle.ts";
import { usage } from "./usage.ts";
import { usageGroups } from "./usage-groups.ts";

export interface DeskPorts
  extends Omit<HousePorts, "ledger">,
    Pick<ProvidersPorts, "breakers" | "health" | "providers">,
    Pick<ReceiptPorts, "receipts">,
    AttentionPorts,
    SupportPorts {
  ledger: Ledger;
  people: People;
  operator: Operator;
  publisher: Publisher;
  flushJournal(): Promise<void>;
}

export function createDesk(ports: DeskPorts): Desk {
  const { sql, clock, ledger, publisher } = ports;
  const on = { ...ports, labels: new LabelBook(sql, ledger), standings: () => publisher.standings() };
  const notes = auditNotes(sql, clock);
  const makers = keyMakers(sql, clock);
  const note: Desk["note"] = (line) => notes.note(line);
  const ofHouse = house(on);
  const ofRoutes = routesDesk(on);
  const ofProviders = providersDesk({ ...on, note });
  return {
    ...notes,
    ...makers,
    ...activity(on),
    ...activityHistogram(on),
    ...overview(on),
    ...billing(on),
    ...catalogue(on),
    ...research(on),
    ...auditRows(on),
    ...receiptsDesk(on),
    ...ofRoutes,
    ...ofHouse,
    ...ofProviders,
    ...supportBundle(on, { ...ofRoutes, ...ofHouse, ...ofProviders }),
    ...organizationsDesk({ ...on, note }),
    ...refunds({ ...on, note }),
    ...usage({
      sql,
      clock,
      namesOf: usageGroups({ ...on, keyMakers: (organizationId) => makers.keyMakers(organizationId) }),
    }),
  };
}
