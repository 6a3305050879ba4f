// `/app/v1`: every route that the dashboard calls, with its input and output. The session cookie is the door; a POST,
// PATCH, PUT or DELETE needs our own Origin and takes an `Idempotency-Key`. `{org}` of somebody else is 404.
import type { z } from "zod";
import * as alerts from "./app/alerts.ts";
import * as billing from "./app/billing.ts";
import * as catalogue from "./app/catalogue.ts";
import * as keys from "./app/keys.ts";
import * as operator from "./app/operator.ts";
import * as people from "./app/people.ts";
import { as, change, read, type RouteShape } from "./app/route.ts";
import { done, text } from "./app/shapes.ts";
import * as spend from "./app/spend.ts";
import * as devices from "./devices.ts";

export const APP_ROOT = "/app/v1";

const csv = { answer: "csv", output: text } as const;
const events = { answer: "events", output: text } as const;
const created = { status: 201 } as const;
const paid = { by: "payments" } as const;

const PEOPLE = {
  "GET /session": read("open", people.session),
  "POST /welcome": change("open", "person.first", people.session, people.welcomeInput),
  "POST /invitations/show": change("open", null, people.invitationPreview, people.invitationPreviewInput),
  "POST /invitations/accept": change("open", "member.join", people.session, people.acceptInvitationInput),
  "POST /reset": change("open", "person.password", done, people.resetInput),
  "GET /profile": read("signed_in", people.profile),
  "PATCH /profile": change("signed_in", "person.rename", people.profile, people.profileInput),
  "POST /profile/password": change("signed_in", "person.password", done, people.passwordInput),
  "DELETE /profile/sessions/{session}": change("signed_in", "person.session_end", done),
  "POST /profile/sessions/end-others": change("signed_in", "person.session_end", done),
  "GET /orgs/{org}/team": read("team.see", people.memberList),
  "PATCH /orgs/{org}/team/{member}": change(
    "team.change",
    "member.role",
    people.member,
    people.changeRoleInput,
  ),
  "DELETE /orgs/{org}/team/{member}": change("team.change", "member.remove", done),
  "POST /orgs/{org}/leave": change("overview.see", "member.leave", done),
  "GET /orgs/{org}/invitations": read("team.see", people.invitationList),
  "POST /orgs/{org}/invitations": as(
    change("team.change", "member.invite", people.createdInvitation, people.inviteInput),
    created,
  ),
  "DELETE /orgs/{org}/invitations/{invitation}": change("team.change", "member.uninvite", people.invitation),
  "GET /orgs/{org}/settings": read("settings.see", people.settings),
  "PATCH /orgs/{org}/settings": change(
    "settings.change",
    "organization.settings",
    people.settings,
    people.settingsInput,
  ),
} as const;

const SPEND = {
  "GET /orgs/{org}/overview": read("overview.see", spend.overview, spend.overviewQuery),
  "GET /orgs/{org}/keys": read("keys.see", keys.keyList),
  "POST /orgs/{org}/keys": as(
    change("keys.change", "key.create", keys.createdKey, keys.createKeyInput),
    created,
  ),
  "GET /orgs/{org}/keys/{key}": read("keys.see", keys.keyDetail),
  "PATCH /orgs/{org}/keys/{key}": change("keys.change", "key.limit", keys.key, keys.editKeyInput),
  "POST /orgs/{org}/keys/{key}/replace": as(change("keys.change", "key.create", keys.createdKey), created),
  "POST /orgs/{org}/keys/{key}/revoke": change("keys.change", "key.revoke", keys.key),
  "GET /orgs/{org}/usage": read("usage.see", spend.usage, spend.usageQuery),
  "GET /orgs/{org}/usage/views": read("usage.see", spend.usageViewList),
  "PUT /orgs/{org}/usage/views": change("usage.see", null, spend.usageView, spend.usageViewInput),
  "DELETE /orgs/{org}/usage/views/{view}": change("usage.see", null, done),
  "GET /orgs/{org}/usage.csv": as(read("usage.see", text, spend.usageQuery), csv),
  "GET /orgs/{org}/activity": read("activity.see", spend.activityList, spend.activityQuery),
  "GET /orgs/{org}/activity.csv": as(read("activity.see", text, spend.activityQuery), csv),
  "GET /orgs/{org}/activity/histogram": read("activity.see", spend.activityHistogram, spend.histogramQuery),
  "GET /orgs/{org}/activity/tail": as(read("activity.see", text, spend.tailQuery), events),
  "GET /orgs/{org}/activity/{request}": read("activity.see", spend.activityDetail),
  "GET /orgs/{org}/activity/{request}/receipt": read("activity.see", spend.signedReceipt),
} as const;

const BILLING = {
  "GET /orgs/{org}/billing": read("billing.see", billing.billing),
  "GET /orgs/{org}/billing/holds": read("billing.see", billing.holdList, billing.pageQuery),
  "GET /orgs/{org}/billing/ledger": read("billing.see", billing.ledgerList, billing.ledgerQuery),
  "GET /orgs/{org}/billing/ledger.csv": as(read("billing.see", text, billing.ledgerQuery), csv),
  "GET /orgs/{org}/billing/top-ups": read("billing.see", billing.topUpList, billing.pageQuery),
  "GET /orgs/{org}/billing/orders": as(read("billing.see", billing.orderList, billing.pageQuery), paid),
  "POST /orgs/{org}/billing/orders": as(
    change("billing.change", "order.create", billing.order, billing.orderInput),
    { ...paid, ...created },
  ),
  "GET /orgs/{org}/billing/orders/{order}": as(read("billing.see", billing.order), paid),
  "GET /orgs/{org}/billing/auto-top-up": as(read("billing.see", billing.autoTopUp), paid),
  "PUT /orgs/{org}/billing/auto-top-up": as(
    change("billing.change", "auto_top_up.set", billing.autoTopUp, billing.autoTopUpInput),
    paid,
  ),
  "POST /orgs/{org}/billing/auto-top-up/retry": as(
    change("billing.change", "auto_top_up.retry", billing.order),
    paid,
  ),
  "DELETE /orgs/{org}/billing/card": as(change("billing.change", "card.remove", done), paid),
} as const;

const CATALOGUE = {
  "GET /orgs/{org}/models": read("models.see", catalogue.modelList),
  "GET /orgs/{org}/models/estimate": read("models.see", catalogue.estimate, catalogue.estimateQuery),
  "POST /orgs/{org}/playground": as(change("playground.use", null, text, catalogue.playgroundInput), {
    answer: "completion",
  } as const),
  "POST /orgs/{org}/playground/quote": change(
    "playground.use",
    null,
    catalogue.playgroundQuote,
    catalogue.playgroundInput,
  ),
  "GET /orgs/{org}/research": read("research.see", catalogue.entitlementList),
  "POST /orgs/{org}/research": as(
    change("research.ask", "entitlement.request", catalogue.entitlement, catalogue.askInput),
    created,
  ),
  "POST /orgs/{org}/research/{entitlement}/withdraw": change(
    "research.ask",
    "entitlement.withdraw",
    catalogue.entitlement,
  ),
} as const;

const ALERTS = {
  "GET /orgs/{org}/alerts/rules": as(read("alerts.see", alerts.alertRuleList), paid),
  "POST /orgs/{org}/alerts/rules": as(
    change("alerts.change", "alert_rule.create", alerts.alertRule, alerts.alertRuleInput),
    { ...paid, ...created },
  ),
  "PUT /orgs/{org}/alerts/rules/{rule}": as(
    change("alerts.change", "alert_rule.change", alerts.alertRule, alerts.changeAlertRuleInput),
    paid,
  ),
  "DELETE /orgs/{org}/alerts/rules/{rule}": as(change("alerts.change", "alert_rule.remove", done), paid),
  "GET /orgs/{org}/alerts/channels": as(read("alerts.see", alerts.alertChannelList), paid),
  "POST /orgs/{org}/alerts/channels": as(
    change("alerts.change", "alert_channel.create", alerts.createdAlertChannel, alerts.alertChannelInput),
    { ...paid, ...created },
  ),
  "DELETE /orgs/{org}/alerts/channels/{channel}": as(
    change("alerts.change", "alert_channel.remove", done),
    paid,
  ),
  "POST /orgs/{org}/alerts/channels/{channel}/test": as(
    change("alerts.change", "alert_channel.test", alerts.alertDelivery),
    paid,
  ),
  "GET /orgs/{org}/alerts/deliveries": as(
    read("alerts.see", alerts.alertDeliveryList, billing.pageQuery),
    paid,
  ),
  "GET /orgs/{org}/audit": read("audit.see", alerts.auditList, alerts.auditQuery),
  "GET /orgs/{org}/audit.csv": as(read("audit.see", text, alerts.auditQuery), csv),
} as const;

const OPERATOR = {
  "GET /operator/organizations": read("operate", operator.organizationList, operator.organizationsQuery),
  "POST /operator/organizations": as(
    change("operate", "organization.create", operator.organization, operator.createOrganizationInput),
    created,
  ),
  "PATCH /operator/organizations/{org}": change(
    "operate",
    "organization.settings",
    operator.organization,
    operator.renameOrganizationInput,
  ),
  "POST /operator/organizations/{org}/invitations": as(
    change("operate", "member.invite", people.createdInvitation, operator.inviteOwnerInput),
    created,
  ),
  "GET /operator/credits": read("operate", operator.creditList, operator.creditsQuery),
  "GET /operator/credits.csv": as(read("operate", text, operator.creditsCsvQuery), csv),
  "POST /operator/credits": as(
    change("operate", "credits.grant", operator.granted, operator.grantInput),
    created,
  ),
  "GET /operator/requests/{request}": read("operate", operator.refundable),
  "POST /operator/refunds": as(
    change("operate", "credits.refund", operator.refunded, operator.refundInput),
    created,
  ),
  "GET /operator/payments": as(read("operate", operator.paymentEventRowList, operator.creditsQuery), paid),
  "GET /operator/payments.csv": as(read("operate", text, operator.creditsCsvQuery), { ...csv, ...paid }),
  "GET /operator/orders": as(read("operate", operator.orderRowList, operator.creditsQuery), paid),
  "GET /operator/orders.csv": as(read("operate", text, operator.creditsCsvQuery), { ...csv, ...paid }),
  "POST /operator/orders/{order}/confirm": as(change("operate", "order.confirm", billing.order), paid),
  "GET /operator/routes": read("operate", operator.routeList),
  "POST /operator/routes/disable": change("operate", "route.disable", operator.route, operator.disableInput),
  "POST /operator/routes/enable": change("operate", "route.enable", operator.route, operator.enableInput),
  "POST /operator/releases/verify": change("operate", null, operator.verifiedRelease, operator.publishInput),
  "POST /operator/releases": as(
    change("operate", "release.publish", operator.route, operator.publishInput),
    created,
  ),
  "GET /operator/releases": read("operate", operator.releaseHistory, operator.releasesQuery),
  "GET /operator/trusted-keys": read("operate", operator.trustedKeyList),
  "GET /operator/entitlements": read("operate", operator.entitlementRowList, operator.entitlementsQuery),
  "POST /operator/entitlements/{entitlement}/approve": change(
    "operate",
    "entitlement.approve",
    operator.entitlementRow,
    catalogue.approveInput,
  ),
  "POST /operator/entitlements/{entitlement}/decline": change(
    "operate",
    "entitlement.decline",
    operator.entitlementRow,
    catalogue.declineInput,
  ),
  "POST /operator/entitlements/{entitlement}/revoke": change(
    "operate",
    "entitlement.revoke",
    operator.entitlementRow,
    catalogue.declineInput,
  ),
  "GET /operator/providers": read("operate", operator.providerList),
  "POST /operator/providers/{provider}/probe": change("operate", null, operator.probeResult),
  "POST /operator/providers/{provider}/open": change(
    "operate",
    "provider.open",
    operator.provider,
    operator.openBreakerInput,
  ),
  "POST /operator/providers/{provider}/close": change("operate", "provider.close", operator.provider),
  "GET /operator/support-bundle": read("operate", operator.supportBundle),
  "GET /operator/health": read("operate", operator.health),
  "POST /operator/ledger/audit": change("operate", null, operator.ledgerReport),
  "GET /operator/people": read("operate", operator.operatorPersonList),
  "POST /operator/people": as(
    change("operate", "operator.invite", people.createdInvitation, operator.inviteOperatorInput),
    created,
  ),
  "GET /operator/invitations": read("operate", people.invitationList),
  "DELETE /operator/invitations/{invitation}": change("operate", "operator.uninvite", people.invitation),
  "POST /operator/people/{person}/reset": change(
    "operate",
    "person.reset",
    operator.resetLink,
    operator.resetPersonInput,
  ),
  "DELETE /operator/people/{person}": change("operate", "operator.remove", done),
  "GET /operator/management-keys": read("operate", operator.managementKeyList),
  "POST /operator/management-keys": as(
    change(
      "operate",
      "management_key.create",
      operator.createdManagementKey,
      operator.createManagementKeyInput,
    ),
    created,
  ),
  "POST /operator/management-keys/{key}/revoke": change(
    "operate",
    "management_key.revoke",
    operator.managementKey,
  ),
  "POST /operator/devices/find": change("operate", null, devices.device, devices.findDeviceInput),
  "POST /operator/devices/{device}/approve": change("operate", "device.approve", devices.device),
  "POST /operator/devices/{device}/decline": change("operate", "device.decline", devices.device),
  "GET /operator/audit": read("operate", alerts.auditList, alerts.auditQuery),
  "GET /operator/audit.csv": as(read("operate", text, alerts.auditQuery), csv),
} as const;

export const APP_ROUTES = { ...PEOPLE, ...SPEND, ...BILLING, ...CATALOGUE, ...ALERTS, ...OPERATOR };

export type AppRoute = keyof typeof APP_ROUTES;
/** What a route answers. */
export type AppAnswer<R extends AppRoute> = z.output<(typeof APP_ROUTES)[R]["output"]>;
/** What a caller writes into its body. */
export type AppBody<R extends AppRoute> = (typeof APP_ROUTES)[R]["body"] extends infer Body extends z.ZodType
  ? z.input<Body>
  : undefined;
/** What a caller writes into its query. */
export type AppQuery<R extends AppRoute> = z.input<(typeof APP_ROUTES)[R]["query"]>;

/** Every route as one shape, for tests and the table of handlers. */
export const appRoutes = (): [AppRoute, RouteShape][] =>
  Object.entries(APP_ROUTES) as [AppRoute, RouteShape][];
