// The operator's pages: organizations, credits, routes and releases, entitlements, people, the house.
import type { AppAnswer } from "../../contract/app.ts";
import type { AuditQuery, AuditSight, Desk } from "../../contract/desk.ts";
import type { Operator } from "../../contract/operator.ts";
import type { People } from "../../contract/people.ts";
import { OperatorRefusal } from "../../contract/admin-refusals.ts";
import { checkVersion } from "../../contract/version.ts";
import { actorOf, type Handlers, notFound, personOf } from "./call.ts";
import { auditCsv } from "./catalogue.ts";
import { creditsCsv } from "./credits-csv.ts";
import { namesOf } from "./names.ts";
import { invite, printInvitations, type TeamPorts, withdraw } from "./team.ts";

export interface OperatorPorts extends TeamPorts {
  people: People;
  desk: Desk;
  operator: Pick<Operator, "organizations" | "people" | "releases" | "routes">;
}

type Payments =
  | "GET /operator/payments"
  | "GET /operator/payments.csv"
  | "GET /operator/orders"
  | "GET /operator/orders.csv"
  | "POST /operator/orders/{order}/confirm";
type Devices = Extract<keyof Handlers, `POST /operator/devices/${string}`>;
type Routes = Exclude<Extract<keyof Handlers, `${string} /operator/${string}`>, Payments | Devices>;
type Row = AppAnswer<"GET /operator/entitlements">["data"][number];

const whole = <T>(data: T[]): { data: T[]; next_cursor: null } => ({ data, next_cursor: null });

export const operatorHandlers = (on: OperatorPorts): Handlers<Routes> => ({
  ...organizations(on),
  ...releases(on),
  ...entitlements(on),
  ...people(on),
  "GET /operator/providers": async () => whole(await on.desk.providers()),
  "POST /operator/providers/{provider}/probe": ({ params }) => on.desk.probe(params.provider),
  "POST /operator/providers/{provider}/open": (call) =>
    on.desk.openBreaker(call.params.provider, call.body.reason, actorOf(call)),
  "POST /operator/providers/{provider}/close": (call) =>
    on.desk.closeBreaker(call.params.provider, actorOf(call)),
  "GET /operator/support-bundle": () => on.desk.supportBundle(),
  "GET /operator/health": () => on.desk.health(),
  "POST /operator/ledger/audit": () => on.desk.ledgerReport(),
  "GET /operator/management-keys": async () => whole(await on.desk.managementKeys()),
  "POST /operator/management-keys": (call) => on.desk.createManagementKey(call.body.name, actorOf(call)),
  "POST /operator/management-keys/{key}/revoke": (call) =>
    on.desk.revokeManagementKey(call.params.key, actorOf(call)),
  "GET /operator/audit": ({ query }) => on.desk.audit(null, query, ALL),
  "GET /operator/audit.csv": async ({ query }) =>
    auditCsv(auditName(query), (cursor) => on.desk.audit(null, { ...query, cursor, limit: 200 }, ALL)),
});

const ALL: AuditSight = { only: null, house: true };

/** Of the file: what it holds. */
const auditName = ({ org, range, from, to }: AuditQuery): string =>
  ["audit", org ?? "all", range, from, to].filter((part) => part !== undefined).join("-");

type Organizations =
  | "GET /operator/organizations"
  | "POST /operator/organizations"
  | "PATCH /operator/organizations/{org}"
  | "POST /operator/organizations/{org}/invitations"
  | "GET /operator/requests/{request}"
  | "POST /operator/refunds"
  | "GET /operator/credits"
  | "GET /operator/credits.csv"
  | "POST /operator/credits";

const organizations = (on: OperatorPorts): Handlers<Organizations> => ({
  "GET /operator/organizations": ({ query }) => on.desk.allOrganizations(query),
  "POST /operator/organizations": async (call) => {
    const { id } = await on.operator.organizations.create({ name: call.body.name }, actorOf(call));
    return await on.desk.organizationRow(id);
  },
  "PATCH /operator/organizations/{org}": async (call) => {
    const { org } = call.params;
    const { name, version } = await on.desk.organizationRow(org);
    checkVersion(call.body.version, version);
    await on.desk.renameOrganization(org, { from: name, to: call.body.name.trim() }, actorOf(call));
    return await on.desk.organizationRow(org);
  },
  "POST /operator/organizations/{org}/invitations": async (call) => {
    await on.desk.organizationRow(call.params.org);
    return await invite(on, { organizationId: call.params.org, ...call.body, by: actorOf(call) });
  },
  "GET /operator/credits": ({ query }) => on.desk.allCredits(query),
  "GET /operator/credits.csv": ({ query }) => creditsCsv((page) => on.desk.allCredits(page), query),
  "POST /operator/credits": (call) => on.desk.grant(call.body, actorOf(call)),
  "GET /operator/requests/{request}": ({ params }) => on.desk.refundable(params.request),
  "POST /operator/refunds": (call) => on.desk.refund(call.body, actorOf(call)),
});

type Releases =
  | "GET /operator/routes"
  | "POST /operator/routes/disable"
  | "POST /operator/routes/enable"
  | "POST /operator/releases/verify"
  | "POST /operator/releases"
  | "GET /operator/releases"
  | "GET /operator/trusted-keys";

const releases = (on: OperatorPorts): Handlers<Releases> => ({
  "GET /operator/routes": async () => whole(await on.desk.allRoutes()),
  "POST /operator/routes/disable": async (call) => {
    await on.operator.routes.disable(call.body, actorOf(call));
    return await on.desk.routeRow(call.body.route);
  },
  "POST /operator/routes/enable": async (call) => {
    await on.operator.routes.enable(call.body.route, actorOf(call));
    return await on.desk.routeRow(call.body.route);
  },
  "POST /operator/releases/verify": (call) => on.desk.verifyRelease(call.body.jws),
  "POST /operator/releases": async (call) => {
    const { route } = await on.operator.releases.publish(call.body.jws, actorOf(call));
    return await on.desk.routeRow(route);
  },
  "GET /operator/releases": ({ query }) => on.desk.releaseHistory(query),
  "GET /operator/trusted-keys": async () => whole(on.desk.trustedKeys()),
});

type Entitlements =
  | "GET /operator/entitlements"
  | "POST /operator/entitlements/{entitlement}/approve"
  | "POST /operator/entitlements/{entitlement}/decline"
  | "POST /operator/entitlements/{entitlement}/revoke";

const entitlements = (on: OperatorPorts): Handlers<Entitlements> => ({
  "GET /operator/entitlements": async (call) => {
    const { state, org } = call.query;
    const rows = (await on.desk.entitlements(org ?? null)).filter(
      (row) => state === undefined || row.state === state,
    );
    return whole(await withNames(on, rows.toSorted(byUrgency), personOf(call).id));
  },
  "POST /operator/entitlements/{entitlement}/approve": async (call) =>
    await decided(on, call, { kind: "approve", expires: call.body.expires, note: call.body.note }),
  "POST /operator/entitlements/{entitlement}/decline": async (call) =>
    await decided(on, call, { kind: "decline", reason: call.body.reason }),
  "POST /operator/entitlements/{entitlement}/revoke": async (call) =>
    await decided(on, call, { kind: "revoke", reason: call.body.reason }),
});

/** Who waits comes first, the longest first; then what is in force, by its end; then what is over, newest first. */
function byUrgency(a: Urgency, b: Urgency): number {
  const place = ({ state }: Urgency): number => (state === "requested" ? 0 : state === "active" ? 1 : 2);
  if (place(a) !== place(b)) return place(a) - place(b);
  if (a.state === "requested") return a.created_at < b.created_at ? -1 : 1;
  if (a.state === "active") return (a.expires_at ?? "9") < (b.expires_at ?? "9") ? -1 : 1;
  return a.created_at < b.created_at ? 1 : -1;
}
type Urgency = Pick<Row, "state" | "created_at" | "expires_at">;

async function decided(
  on: OperatorPorts,
  call: Parameters<typeof actorOf>[0] & { params: { entitlement: string } },
  decision: Parameters<Desk["decide"]>[1],
): Promise<Row> {
  const actor = actorOf(call);
  const row = await on.desk.decide(call.params.entitlement, decision, actor);
  if (decision.kind === "decline")
    await on.desk.note({
      actor,
      action: "entitlement.decline",
      organizationId: row.org,
      target: row.id,
      after: { reason: decision.reason },
    });
  const [named] = await withNames(on, [row], actor.id);
  if (named === undefined) throw notFound("entitlement");
  return named;
}

async function withNames(
  on: OperatorPorts,
  rows: Omit<Row, "org_name" | "decidable">[],
  you: string,
): Promise<Row[]> {
  const names = await namesOf(on);
  return rows.map((row) => ({
    ...row,
    org_name: names.get(row.org) ?? row.org,
    decidable: row.state === "requested" && row.requested_by !== you,
  }));
}

type Persons =
  | "GET /operator/invitations"
  | "DELETE /operator/invitations/{invitation}"
  | "POST /operator/people/{person}/reset"
  | "GET /operator/people"
  | "POST /operator/people"
  | "DELETE /operator/people/{person}";

const people = (on: OperatorPorts): Handlers<Persons> => ({
  "GET /operator/people": async () => {
    const memberships = Map.groupBy(await on.people.memberships("all"), ({ personId }) => personId);
    const names = await namesOf(on);
    return whole(
      (await on.people.persons()).map((person) => {
        const own = memberships.get(person.id) ?? [];
        const seen = Math.max(0, ...own.map(({ seenAtMs }) => seenAtMs));
        return {
          person: { id: person.id, name: person.name },
          email: person.email,
          operator: person.operator,
          two_factor: person.twoFactor,
          last_seen_at: seen === 0 ? null : new Date(seen).toISOString(),
          memberships: own.map(({ organizationId: org, role }) => ({
            org,
            name: names.get(org) ?? org,
            role,
          })),
        };
      }),
    );
  },
  "POST /operator/people": (call) =>
    invite(on, {
      organizationId: null,
      email: call.body.email,
      role: "viewer",
      by: actorOf(call),
    }),
  "GET /operator/invitations": async () =>
    whole(await printInvitations(on, await on.people.invitations(null))),
  "DELETE /operator/invitations/{invitation}": (call) =>
    withdraw(on, { organizationId: null, id: call.params.invitation, actor: actorOf(call) }),
  "POST /operator/people/{person}/reset": async (call) => {
    const input = { person: call.params.person, two_factor: call.body.two_factor };
    return await on.operator.people.reset(input, actorOf(call));
  },
  "DELETE /operator/people/{person}": async (call) => {
    const actor = actorOf(call);
    const found = (await on.people.persons([call.params.person])).find(({ operator }) => operator);
    if (found === undefined) throw notFound("person");
    if (found.id === actor.id)
      throw new OperatorRefusal("conflict", "You cannot take the operator role from yourself.", "person");
    // Before, so that a failure can be repeated; after, for a login that was fetched in between.
    await on.desk.endLogins(found.id, actor);
    await on.people.setOperator(found.id, false);
    await on.desk.endLogins(found.id, actor);
    await on.desk.note({ actor, action: "operator.remove", organizationId: null, target: found.id });
    return { done: true };
  },
});
