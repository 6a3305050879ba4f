// Models, Research Mode and the audit log of an organization.
import type { AuditSight, Desk } from "../../contract/desk.ts";
import { actorOf, callerOf, type Handlers, type Who } from "./call.ts";
import { csvResponse } from "./csv.ts";

export interface CataloguePorts {
  desk: Pick<Desk, "ask" | "audit" | "entitlements" | "estimate" | "models" | "note" | "withdraw">;
}

type Routes =
  | "GET /orgs/{org}/models"
  | "GET /orgs/{org}/models/estimate"
  | "GET /orgs/{org}/research"
  | "POST /orgs/{org}/research"
  | "POST /orgs/{org}/research/{entitlement}/withdraw"
  | "GET /orgs/{org}/audit"
  | "GET /orgs/{org}/audit.csv";

export const catalogueHandlers = ({ desk }: CataloguePorts): Handlers<Routes> => ({
  "GET /orgs/{org}/models": async ({ params }) => ({
    data: await desk.models(params.org),
    next_cursor: null,
  }),
  "GET /orgs/{org}/models/estimate": ({ query }) => desk.estimate(query),
  "GET /orgs/{org}/research": async ({ params }) => ({
    data: await desk.entitlements(params.org),
    next_cursor: null,
  }),
  "POST /orgs/{org}/research": (call) => desk.ask(call.params.org, call.body, actorOf(call)),
  "POST /orgs/{org}/research/{entitlement}/withdraw": async (call) => {
    const { org, entitlement: target } = call.params;
    const actor = actorOf(call);
    const withdrawn = await desk.withdraw(org, target, actor);
    await desk.note({ actor, action: "entitlement.withdraw", organizationId: org, target });
    return withdrawn;
  },
  "GET /orgs/{org}/audit": (call) =>
    desk.audit(call.params.org, { ...call.query, org: undefined }, sightOf(callerOf(call))),
  "GET /orgs/{org}/audit.csv": async (call) => {
    const sight = sightOf(callerOf(call));
    return auditCsv(`audit-${call.params.org}`, (cursor) =>
      desk.audit(call.params.org, { ...call.query, org: undefined, cursor, limit: 200 }, sight),
    );
  },
});

/** Billing sees money, a developer what they did themselves. */
function onlyOf({ allowance, standing, signedIn }: Who): AuditSight["only"] {
  if (allowance === "all") return null;
  return standing === "billing" ? { money: true } : { actor: signedIn.person.id };
}

const sightOf = (who: Who): AuditSight => ({ only: onlyOf(who), house: who.signedIn.person.operator });

type AuditPage = Awaited<ReturnType<Desk["audit"]>>;

export const auditCsv = (
  name: string,
  page: (cursor: string | undefined) => Promise<AuditPage>,
): Promise<Response> =>
  csvResponse({
    name,
    columns: {
      id: (row: AuditPage["data"][number]) => row.id,
      at: (row) => row.at,
      actor: (row) => row.actor.id,
      actor_name: (row) => row.actor.name,
      action: (row) => row.action,
      org: (row) => row.org,
      target: (row) => row.target,
      before: (row) => row.before,
      after: (row) => row.after,
      address: (row) => row.address,
      request_id: (row) => row.request_id,
    },
    page,
  });
