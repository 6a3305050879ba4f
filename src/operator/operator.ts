// The operator's use-cases, put together. Each noun has its file and names the part of the ledger that it
// uses. Inputs have passed their schema; `actor` is the caller (a management key's id) and is written to the
// audit log (S40). Every method throws `Refusal` or `OperatorRefusal`, and has then changed nothing.
import type { SendMail } from "../alerts/mail/message.ts";
import type { creditList, creditsQuery } from "../api/shapes/credits.ts";
import type { EvidenceJson } from "../api/shapes/evidence.ts";
import type { RequestListJson, RequestsQuery } from "../api/shapes/activity.ts";
import type { KeyJson, KeyRecordsQuery } from "../api/shapes/keys.ts";
import { RECORDS_MAX } from "../domain/page-rows.ts";
import { assertKeyAsked } from "../registry/api-keys.ts";
import { readRequest } from "../registry/requests.ts";
import type { z } from "zod";
import type { People } from "../people/people.ts";
import type { RateDefaults } from "../domain/rate-limits.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../lib/clock.ts";
import type { Sql } from "../store/sql.ts";
import { operatorInvitations } from "./invitations.ts";
import { ledgerVerification } from "./ledger-verification.ts";
import { credits } from "./credits.ts";
import { activityPage } from "../reporting/activity.ts";
import { creditsPage } from "../reporting/credits.ts";
import { modelUse } from "../reporting/model-use.ts";
import { LabelBook } from "../reporting/labels.ts";
import { entitlements } from "./entitlements.ts";
import { keysFound } from "./key-pages.ts";
import { keys } from "./keys.ts";
import type { ListOf } from "./list.ts";
import { logins } from "./logins.ts";
import { assertOrganization, organizations } from "./organizations.ts";
import type { PaymentService } from "./payments.ts";
import type { accounts } from "./people.ts";
import type { Publisher } from "../releases/publish.ts";
import { quarantine } from "./quarantine.ts";
import { stopped } from "./stopped-organizations.ts";
import { rateLimits } from "./rate-limits.ts";
import { team } from "./team.ts";
import { releases, routes } from "./releases.ts";
import { evidenceOf, type EvidenceAsk, type EvidencePorts } from "../reporting/evidence.ts";
import { requests } from "../reporting/requests.ts";
import { statementOf } from "../reporting/statement.ts";
import { noHoldOf } from "../domain/unknown-record.ts";
import { usageTotals } from "../reporting/usage-totals.ts";

export interface OperatorPorts {
  ledger: Ledger;
  sql: Sql;
  publisher: Publisher;
  receipts: EvidencePorts["receipts"];
  /** The limits that apply if no rate limit is set. */
  rateDefaults: RateDefaults;
  clock: Clock;
  /** Orders, events of the payment service, and payments confirmed by hand. */
  payments: Pick<PaymentService, "orders" | "events" | "confirm">;
  people: ReturnType<typeof accounts>;
  persons(): Promise<People>;
  /** Null if no mail server is configured. */
  sendMail: SendMail | null;
  /** The dashboard's URL, without a trailing slash. */
  url(): string;
  flushRequestLog(): Promise<void>;
}

export type Operator = ReturnType<typeof createOperator>;

/** Builds the use-cases over the store and the publication of releases. */
export const createOperator = (on: OperatorPorts) => ({
  organizations: organizations(on.ledger),
  credits: { ...credits(on.ledger), list: creditsListed(on) },
  keys: { ...keys(on.ledger), list: keysListed(on) },
  rateLimits: rateLimits(on),
  entitlements: entitlements({ ...on, people: () => on.persons() }),
  releases: releases(on.publisher),
  routes: routes(on.publisher),
  models: { use: (model: string) => modelUse(on, model) },
  usage: usageTotals(on.ledger),
  statements: {
    show: (org: string, month: string | undefined) =>
      statementOf({ ...on, labels: new LabelBook(on.sql, on.ledger) }, org, month),
  },
  requests: { ...requests(on), list: listed(on), evidence: (asked: EvidenceAsk) => evidenceOfAny(on, asked) },
  logins: logins(on.ledger),
  ledger: { ...ledgerVerification(on.ledger), ...quarantine(on.ledger), ...stopped(on.ledger) },
  payments: on.payments,
  people: on.people,
  team: team({ ...on, people: () => on.persons() }),
  invitations: operatorInvitations({ ...on, people: () => on.persons() }),
});

/** An organization's keys, oldest first. */
const keysListed =
  (on: OperatorPorts) =>
  async ({ org, limit = RECORDS_MAX, ...asked }: KeyRecordsQuery): Promise<ListOf<KeyJson>> => {
    await assertOrganization(on.ledger, org);
    const { named } = keys(on.ledger);
    const page = { cursor: asked.cursor, limit, order: "oldest", nowMs: on.clock.nowMs() } as const;
    return await keysFound({ sql: on.sql, named }, org, { ...asked, ...page });
  };

/** Credits of one organization, or of all. */
const creditsListed =
  (on: OperatorPorts) =>
  async (asked: z.output<typeof creditsQuery>): Promise<z.output<typeof creditList>> => {
    if (asked.org !== undefined) await assertOrganization(on.ledger, asked.org);
    const people = { persons: async (ids: readonly string[]) => (await on.persons()).persons(ids) };
    return await creditsPage({ sql: on.sql, people }, asked);
  };

/** For a request of any organization. */
async function evidenceOfAny(on: OperatorPorts, asked: EvidenceAsk): Promise<EvidenceJson> {
  const record = await readRequest(on.ledger, asked.request);
  if (record === null) throw noHoldOf(asked.request, "id");
  return await evidenceOf(on, record.organizationId, asked);
}

/**
 * The rows that the dashboard shows, newest first, including refusals and replays; `next_cursor` goes back in
 * time.
 */
function listed(on: OperatorPorts): (query: RequestsQuery) => Promise<RequestListJson> {
  const rooms = { ...on, labels: new LabelBook(on.sql, on.ledger) };
  return async ({ org, ...query }) => {
    await assertOrganization(on.ledger, org);
    await assertKeyAsked(on.ledger, { org, key: query.key });
    return await activityPage(rooms, org, query);
  };
}
