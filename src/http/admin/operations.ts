// The table of the operator API (interfaces.md §5): one operation per command of the CLI, with the same fields.
import {
  auditReportSchema,
  balanceSchema,
  createdKeySchema,
  endedLoginSchema,
  entitlementListSchema,
  entitlementSchema,
  grantSchema,
  keyListSchema,
  keySchema,
  organizationListSchema,
  organizationSchema,
  personListSchema,
  resetLinkSchema,
  refundSchema,
  releaseListSchema,
  releaseSchema,
  requestSchema,
  routeListSchema,
  routeSchema,
  usageListSchema,
} from "../../contract/admin.ts";
import {
  approveEntitlementInput,
  createKeyInput,
  createOrganizationInput,
  disableRouteInput,
  enableRouteInput,
  entitlementParams,
  entitlementsQuery,
  grantCreditsInput,
  keyParams,
  limitKeyInput,
  orgQuery,
  paymentEventsQuery,
  paymentOrderParams,
  paymentOrdersQuery,
  publishReleaseInput,
  refundCreditsInput,
  renameKeyInput,
  requestEntitlementInput,
  requestParams,
  resetPersonInput,
  usageQuery,
} from "../../contract/admin-input.ts";
import { activityList, requestsQuery } from "../../contract/app/spend.ts";
import { order, orderList } from "../../contract/app/billing.ts";
import { paymentEventList } from "../../contract/app/operator.ts";
import { type Operation, operation } from "./operation.ts";

const organizations: Operation[] = [
  operation("POST /organizations", {
    noun: "organizations",
    audit: "organization.create",
    summary: "Create an organization",
    body: createOrganizationInput,
    status: 201,
    output: organizationSchema,
    run: (operator, { body }, actor) => operator.organizations.create(body, actor),
  }),
  operation("GET /organizations", {
    noun: "organizations",
    audit: null,
    summary: "List organizations",
    output: organizationListSchema,
    run: (operator) => operator.organizations.list(),
  }),
  operation("POST /credits", {
    noun: "credits",
    audit: "credits.grant",
    summary: "Credit an organization, once per reference",
    body: grantCreditsInput,
    output: grantSchema,
    run: (operator, { body }, actor) => operator.credits.grant(body, actor),
  }),
  operation("GET /credits", {
    noun: "credits",
    audit: null,
    summary: "Show an organization's credits",
    query: orgQuery,
    output: balanceSchema,
    run: (operator, { query }) => operator.credits.show(query.org),
  }),
];

const payments: Operation[] = [
  operation("POST /credits/refund", {
    noun: "credits",
    audit: "credits.refund",
    summary: "Return what a settled request cost, or part of it, once per reference",
    body: refundCreditsInput,
    output: refundSchema,
    run: (operator, { body }, actor) => operator.credits.refund(body, actor),
  }),
  operation("GET /payments/orders", {
    noun: "payments",
    audit: null,
    summary: "List an organization's payment orders, newest first",
    query: paymentOrdersQuery,
    output: orderList,
    run: (operator, { query: { org, ...page } }) => operator.payments.orders(org, page),
  }),
  operation("POST /payments/orders/{order}/confirm", {
    noun: "payments",
    audit: "order.confirm",
    summary: "Credit an order that was paid by hand, once",
    params: paymentOrderParams,
    output: order,
    run: (operator, { params }, actor) => operator.payments.confirm(params.order, actor),
  }),
  operation("GET /payments/events", {
    noun: "payments",
    audit: null,
    summary: "List events of the payment service with what came of them, newest first",
    query: paymentEventsQuery,
    output: paymentEventList,
    run: (operator, { query }) => operator.payments.events(query),
  }),
];

const keys: Operation[] = [
  operation("POST /keys", {
    noun: "keys",
    audit: "key.create",
    summary: "Create an API key; the answer is the only one that shows the secret",
    body: createKeyInput,
    status: 201,
    output: createdKeySchema,
    run: (operator, { body }, actor) => operator.keys.create(body, actor),
  }),
  operation("GET /keys", {
    noun: "keys",
    audit: null,
    summary: "List an organization's API keys",
    query: orgQuery,
    output: keyListSchema,
    run: (operator, { query }) => operator.keys.list(query.org),
  }),
  operation("POST /keys/{key}/revoke", {
    noun: "keys",
    audit: "key.revoke",
    summary: "Revoke an API key, for good, from its very next request",
    params: keyParams,
    output: keySchema,
    run: (operator, { params }, actor) => operator.keys.revoke(params.key, actor),
  }),
  operation("POST /keys/{key}/rename", {
    noun: "keys",
    audit: "key.rename",
    summary: "Give an API key another name",
    params: keyParams,
    body: renameKeyInput,
    output: keySchema,
    run: (operator, { params, body }, actor) => operator.keys.change({ key: params.key, ...body }, actor),
  }),
  operation("POST /keys/{key}/limit", {
    noun: "keys",
    audit: "key.limit",
    summary: "Set or lift an API key's monthly spend limit",
    params: keyParams,
    body: limitKeyInput,
    output: keySchema,
    run: (operator, { params, body }, actor) => operator.keys.change({ key: params.key, ...body }, actor),
  }),
];

const entitlements: Operation[] = [
  operation("POST /entitlements", {
    noun: "entitlements",
    audit: "entitlement.request",
    summary: "Request a Research Mode entitlement for a model",
    body: requestEntitlementInput,
    status: 201,
    output: entitlementSchema,
    run: (operator, { body }, actor) => operator.entitlements.request(body, actor),
  }),
  operation("GET /entitlements", {
    noun: "entitlements",
    audit: null,
    summary: "List entitlements",
    query: entitlementsQuery,
    output: entitlementListSchema,
    run: (operator, { query }) => operator.entitlements.list(query.org),
  }),
  operation("POST /entitlements/{id}/approve", {
    noun: "entitlements",
    audit: "entitlement.approve",
    summary: "Approve a requested entitlement until a time",
    params: entitlementParams,
    body: approveEntitlementInput,
    output: entitlementSchema,
    run: (operator, { params, body }, actor) =>
      operator.entitlements.approve({ id: params.id, expires: body.expires }, actor),
  }),
  operation("POST /entitlements/{id}/revoke", {
    noun: "entitlements",
    audit: "entitlement.revoke",
    summary: "Revoke an entitlement",
    params: entitlementParams,
    output: entitlementSchema,
    run: (operator, { params }, actor) => operator.entitlements.revoke(params.id, actor),
  }),
];

const releases: Operation[] = [
  operation("POST /releases", {
    noun: "releases",
    audit: "release.publish",
    summary: "Publish a signed release of a route",
    body: publishReleaseInput,
    output: releaseSchema,
    run: (operator, { body }, actor) => operator.releases.publish(body.jws, actor),
  }),
  operation("GET /releases", {
    noun: "releases",
    audit: null,
    summary: "List the newest release of each route",
    output: releaseListSchema,
    run: (operator) => operator.releases.list(),
  }),
  operation("GET /routes", {
    noun: "routes",
    audit: null,
    summary: "List routes with their state and health",
    output: routeListSchema,
    run: (operator) => operator.routes.list(),
  }),
  operation("POST /routes/disable", {
    noun: "routes",
    audit: "route.disable",
    summary: "Close a route by hand",
    body: disableRouteInput,
    output: routeSchema,
    run: (operator, { body }, actor) => operator.routes.disable(body, actor),
  }),
  operation("POST /routes/enable", {
    noun: "routes",
    audit: "route.enable",
    summary: "Open a route that was closed by hand",
    body: enableRouteInput,
    output: routeSchema,
    run: (operator, { body }, actor) => operator.routes.enable(body.route, actor),
  }),
];

const people: Operation[] = [
  operation("GET /people", {
    noun: "people",
    audit: null,
    summary: "List accounts of the dashboard",
    output: personListSchema,
    run: (operator) => operator.people.list(),
  }),
  operation("POST /people/reset", {
    noun: "people",
    audit: "person.reset",
    summary: "Make a link that sets an account's new password, once",
    body: resetPersonInput,
    output: resetLinkSchema,
    run: (operator, { body }, actor) => operator.people.reset(body, actor),
  }),
  operation("POST /logout", {
    noun: "logins",
    audit: "management_key.revoke",
    summary: "Revoke the management key that calls",
    output: endedLoginSchema,
    run: (operator, _, actor) => operator.logins.end(actor),
  }),
];

const reports: Operation[] = [
  operation("GET /usage", {
    noun: "usage",
    audit: null,
    summary: "Show an organization's usage by key, model or UTC day",
    query: usageQuery,
    output: usageListSchema,
    run: (operator, { query }) => operator.usage.show(query),
  }),
  operation("GET /requests", {
    noun: "requests",
    audit: null,
    summary: "List an organization's requests, newest first, refusals and replays included",
    query: requestsQuery,
    output: activityList,
    run: (operator, { query }) => operator.requests.list(query),
  }),
  operation("GET /requests/{id}", {
    noun: "requests",
    audit: null,
    summary: "Show one request: receipt, hold, attempts, timings",
    params: requestParams,
    output: requestSchema,
    run: (operator, { params }) => operator.requests.show(params.id),
  }),
  operation("GET /ledger/audit", {
    noun: "ledger",
    audit: null,
    summary: "Check every invariant of the ledger while traffic runs",
    output: auditReportSchema,
    run: (operator) => operator.ledger.audit(),
  }),
];

/** Every operation; nothing else is served under `/admin/v1` but the document and its page. */
export const OPERATIONS: readonly Operation[] = [
  ...organizations,
  ...payments,
  ...keys,
  ...entitlements,
  ...releases,
  ...people,
  ...reports,
];
