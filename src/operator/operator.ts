// The operator's use-cases, put together. Each noun has its file and names the part of the ledger that it uses.
import type { Operator } from "../contract/operator.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import type { Sql } from "../store/sql.ts";
import { audit } from "./audit.ts";
import { credits } from "./credits.ts";
import { activity } from "./desk/activity.ts";
import { LabelBook } from "./desk/labels.ts";
import { entitlements } from "./entitlements.ts";
import { keys } from "./keys.ts";
import { logins } from "./logins.ts";
import { organizations } from "./organizations.ts";
import type { Publisher } from "../releases/publish.ts";
import { releases, routes } from "./releases.ts";
import { requests } from "./requests.ts";
import { unknownRecord } from "./unknown-record.ts";
import { usage } from "./usage.ts";

export interface OperatorPorts {
  ledger: Ledger;
  sql: Sql;
  publisher: Publisher;
  clock: Clock;
  payments: Operator["payments"];
  people: Operator["people"];
  flushJournal(): Promise<void>;
}

/** Builds the use-cases over the store and the publication of releases. */
export const createOperator = (on: OperatorPorts): Operator => ({
  organizations: organizations(on.ledger),
  credits: credits(on.ledger),
  keys: keys(on.ledger),
  entitlements: entitlements(on.ledger, on.clock),
  releases: releases(on.publisher, on.ledger),
  routes: routes(on.publisher),
  usage: usage(on.ledger),
  requests: { ...requests(on.ledger), list: listed(on) },
  logins: logins(on.ledger),
  ledger: audit(on.ledger),
  payments: on.payments,
  people: on.people,
});

/** The same rows that the dashboard shows of an organization. */
function listed(on: OperatorPorts): Operator["requests"]["list"] {
  const { activity: list } = activity({ ...on, labels: new LabelBook(on.sql, on.ledger) });
  return async ({ org, ...query }) => {
    if ((await on.ledger.organization(org)) === null) throw unknownRecord("organization", org, "org");
    return await list(org, query);
  };
}
