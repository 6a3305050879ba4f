// What operators see and do, over all organizations.
import { z } from "zod";
import { ROLES } from "../../domain/roles.ts";
import {
  auditReportSchema,
  quarantinedSchema,
  releaseSchema,
  resolvedSchema,
  routeSchema,
} from "./records.ts";
import { doubt } from "./requests.ts";
import { order } from "./billing.ts";
import { entitlement } from "./catalogue.ts";
import {
  email,
  count,
  line,
  listOf,
  milliseconds,
  page,
  personRef,
  time,
  usd,
  usdInput,
  version,
} from "./fields.ts";

export const organization = z.object({
  id: z.string(),
  name: z.string(),
  created_at: time,
  paid_workspace: z.boolean(),
  available_usd: usd,
  held_usd: usd,
  debt_usd: usd,
  spend_30d_usd: usd,
  keys: count,
  members: count,
  last_request_at: time.nullable(),
  open_entitlements: count,
  version,
});
export const organizationList = listOf(organization);
export const organizationsQuery = z.strictObject({ ...page, search: z.string().max(200).optional() });
export const renameOrganizationInput = z.strictObject({ name: line(), version });

/** Of credits, orders and payment events. */
export const creditsQuery = z.strictObject({ ...page, org: z.string().max(60).optional() });
export const creditsCsvQuery = creditsQuery.pick({ org: true });
const credit = z.object({
  at: time,
  org: z.string(),
  org_name: z.string(),
  kind: z.enum(["purchase", "grant", "refund", "chargeback"]),
  amount_usd: usd,
  source: z.string(),
  reference: z.string(),
  balance_after_usd: usd,
  by: personRef.nullable(),
});
export const creditList = listOf(credit);
export const grantInput = z.strictObject({
  org: z.string().max(60),
  amount_usd: usdInput,
  kind: z.enum(["grant", "purchase"]).default("grant"),
  reference: line(),
  reason: line(500),
});
/** `credited` is false when this reference had been credited before: nothing changed. */
export const granted = z.object({
  org: z.string(),
  reference: z.string(),
  credited: z.boolean(),
  before_usd: usd,
  after_usd: usd,
});
/** What can be given back of a request: what it cost, less what was given back before. */
export const refundable = z.object({
  request: z.string(),
  org: z.string(),
  org_name: z.string(),
  model: z.string(),
  state: z.enum(["running", "settled", "released", "outcome_unknown"]),
  admitted_at: time,
  charge_usd: usd,
  refunded_usd: usd,
  left_usd: usd,
});
export const refundInput = z.strictObject({
  request: z.string().max(100),
  amount_usd: usdInput,
  reference: line(),
  reason: line(500),
});
/** `refunded` is false when this reference had been refunded before: nothing changed. */
export const refunded = z.object({
  org: z.string(),
  request: z.string(),
  reference: z.string(),
  refunded: z.boolean(),
  before_usd: usd,
  after_usd: usd,
});
const orderRow = order.extend({ org_name: z.string() });
export const orderRowList = listOf(orderRow);
/** Payments that were seen; served by `payments`. */
const paymentEvent = z.object({
  id: z.string(),
  driver: z.string(),
  type: z.string(),
  org: z.string().nullable(),
  order: z.string().nullable(),
  outcome: z.string(),
  detail: z.string().nullable(),
  deliveries: count,
  received_at: time,
});
export const paymentEventList = listOf(paymentEvent);
const paymentEventRow = paymentEvent.extend({ org_name: z.string().nullable() });
export const paymentEventRowList = listOf(paymentEventRow);

export const route = routeSchema.extend({
  highest_version: count,
  signed_by: z.string(),
  issued_at: time,
  tier: z.enum(["standard", "research"]),
  price: z.object({
    input_per_million: z.string(),
    cached_input_per_million: z.string(),
    output_per_million: z.string(),
    request_minimum: z.string(),
  }),
  /** Of the last five minutes, by admission. */
  recent: z.object({
    requests: count,
    error_rate: z.number(),
    first_part_ms_p50: milliseconds.nullable(),
  }),
});
export const routeList = listOf(route);
const trustedKey = z.object({ id: z.string() });
export const trustedKeyList = listOf(trustedKey);
export const disableInput = z.strictObject({ route: line(400), reason: line() });
export const enableInput = z.strictObject({ route: line(400) }).meta({ id: "EnableRoute" });
export const publishInput = z
  .strictObject({ jws: z.string().min(1).max(65_536) })
  .meta({ id: "PublishRelease" });
/** Checked, not published: what would change, field by field. `live` is null for a new route. */
export const verifiedRelease = z.object({
  release: releaseSchema,
  live: releaseSchema.nullable(),
  changes: z.array(
    z.object({ field: z.string(), before: z.string().nullable(), after: z.string().nullable() }),
  ),
});
export const releaseHistory = listOf(
  releaseSchema.omit({ state: true }).extend({ published_at: time, published_by: personRef.nullable() }),
);
export const releasesQuery = z.strictObject({ ...page, route: z.string().max(400).optional() });

export const entitlementRow = entitlement.extend({
  org_name: z.string(),
  /** Whether this operator may decide it: nobody approves their own request. */
  decidable: z.boolean(),
});
export const entitlementRowList = listOf(entitlementRow);
export const entitlementsQuery = z.strictObject({
  ...page,
  state: z.enum(["requested", "active", "expired", "revoked", "declined", "withdrawn"]).optional(),
  org: z.string().max(60).optional(),
});

export const provider = z.object({
  name: z.string(),
  kind: z.string(),
  host: z.string().nullable(),
  secret_set: z.boolean(),
  routes: z.array(
    z.object({
      route: z.string(),
      state: z.enum(["live", "unhealthy", "stale", "disabled"]),
      circuit: z.enum(["closed", "open", "half_open"]),
      failures: count,
      next_probe_at: time.nullable(),
    }),
  ),
  running: count,
  /** Of the last 24 hours, by class of failure. */
  errors: z.array(z.object({ class: z.string(), attempts: count })),
  /** Of the last 24 hours: calls whose provider was not believed as it was, by reason (docs/money.md). */
  doubts: z.array(z.object({ doubt, attempts: count })),
  /** What the platform paid in 30 days: price above charges. */
  variance_usd: usd,
  /** Null where this provider is not probed, or was not yet; of the gateway that answers. */
  last_probe: z.object({ at: time, failing: z.boolean() }).nullable(),
  /** Whether there is anything to probe. */
  probed: z.boolean(),
  /** Why our account there is refused; null while it is not. Of the gateway that answers. */
  account: z
    .object({ cause: z.enum(["account", "quota"]), words: z.string().nullable(), at: time })
    .nullable(),
  /** The breaker as an operator opened it; null while it follows the calls. */
  opened: z.object({ reason: z.string(), by: personRef, at: time }).nullable(),
});
/** A probe on request: whether the provider answered well, and how long that took. */
export const probeResult = z.object({ provider, well: z.boolean(), ms: milliseconds });
export const openBreakerInput = z.strictObject({ reason: line() });
export const providerList = listOf(provider);

export const health = z.object({
  version: z.string(),
  started_at: time,
  now: time,
  ready: z.boolean(),
  store: z.enum(["sqlite", "postgresql"]),
  running: count,
  holds_open: count,
  oldest_hold_at: time.nullable(),
  outcomes_unknown: count,
  streams_open: count,
  memory_bytes: count,
  event_loop_delay_ms: milliseconds.nullable(),
  refusals_forgotten: count,
  /** Requests whose record is damaged: held until an operator decides. */
  quarantined: count,
  /** Of this process since its start: failed runs of background work, by job. */
  failed_jobs: z.array(z.object({ job: z.string(), failures: count })),
  /** Of this process since its start. */
  overload_refusals: count,
  schema_version: count,
  last_sweep_at: time.nullable(),
  /** What `db backup` last wrote; null on PostgreSQL, whose own tools back it up. */
  backup: z
    .object({
      last_at: time.nullable(),
      bytes: count.nullable(),
      /** None, or an older one than 7 days. */
      overdue: z.boolean(),
    })
    .nullable(),
  /** By how much this gateway's clock is ahead of its database's; null on SQLite, which has none. */
  clock_offset_ms: z.number().nullable(),
  /** Of the last commits of this process, 1,024 at most; null before the first. */
  commits: z.object({
    waiting: count,
    of: count,
    operations_mean: z.number().nullable(),
    operations_most: count.nullable(),
    ms_p50: milliseconds.nullable(),
    ms_p99: milliseconds.nullable(),
  }),
  /** The gateways of a PostgreSQL store; none on SQLite, which has one. */
  gateways: z.array(z.object({ name: z.string(), started_at: time, lease_until: time, valid: z.boolean() })),
});

/** What to send along with a question: states and figures, no secret, no name of a person, no content. */
export const supportBundle = z.object({
  made_at: time,
  health,
  runtime: z.object({ bun: z.string(), platform: z.string(), arch: z.string(), schema_version: count }),
  settings: z.record(z.string(), z.unknown()),
  providers: z.array(provider.omit({ opened: true }).extend({ opened: z.boolean() })),
  routes: z.array(route),
});

export const ledgerReport = auditReportSchema.extend({
  violations: z.array(auditReportSchema.shape.violations.element.extend({ org_name: z.string().nullable() })),
  /** The oldest first, 100 at most. */
  late_holds: z.array(
    z.object({
      request: z.string(),
      org: z.string(),
      org_name: z.string(),
      held_usd: usd,
      admitted_at: time,
      deadline_at: time,
    }),
  ),
  started_at: time,
  ms: milliseconds,
  drift_usd: usd,
  variance_usd: usd,
  debt_usd: usd,
  holds_past_deadline: count,
});

export const quarantine = listOf(quarantinedSchema.extend({ org_name: z.string().nullable() }));
/** `charge_usd` null releases the whole hold. */
export const resolveInput = z.strictObject({ charge_usd: usdInput.nullable(), reason: line(500) });
export const resolvedRequest = resolvedSchema;

const operatorPerson = z.object({
  person: personRef,
  email: z.string(),
  operator: z.boolean(),
  two_factor: z.boolean(),
  last_seen_at: time.nullable(),
  memberships: z.array(z.object({ org: z.string(), name: z.string(), role: z.string() })),
});
export const operatorPersonList = listOf(operatorPerson);
export const inviteOperatorInput = z.strictObject({ email });
/** `two_factor` also takes the second factor away: for a lost phone. */
export const resetPersonInput = z.strictObject({ two_factor: z.boolean().default(false) });
/** Works once, within an hour; null when the same Idempotency-Key had shown it before. */
export const resetLink = z.object({ email: z.string(), link: z.string().nullable(), expires_at: time });
export const managementKey = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  /** Whose it is: it opens nothing once they are no operator. Null for the installation's own. */
  owner: personRef.nullable(),
  created_at: time,
  /** Of logins of the command line; null for one that lasts until it is revoked. */
  expires_at: time.nullable(),
  revoked_at: time.nullable(),
  state: z.enum(["active", "expired", "revoked"]),
  /** Of `/admin/v1` or `/metrics`, to the minute; null before the first. */
  last_used_at: time.nullable(),
});
export const managementKeyList = listOf(managementKey);
export const createManagementKeyInput = z.strictObject({ name: line() });
/** `secret` once; null when the same Idempotency-Key had shown it before. */
export const createdManagementKey = managementKey.extend({ secret: z.string().nullable() });
/** How the first owner of an organization comes in. */
export const inviteOwnerInput = z.strictObject({ email, role: z.enum(ROLES).default("owner") });

export type PaymentEventJson = z.output<typeof paymentEvent>;
