// The platform as its operators see it: providers, health, the ledger's verification, requests that wait for a decision.
import { z } from "zod";
import {
  auditReportSchema,
  quarantinedSchema,
  resolvedSchema,
  resumedOrganizationSchema,
  stoppedOrganizationSchema,
} from "./records.ts";
import { route } from "./releases.ts";
import { doubt } from "./requests.ts";
import {
  circuit,
  count,
  line,
  listOf,
  milliseconds,
  personRef,
  routeState,
  time,
  usd,
  usdInput,
} from "./fields.ts";

export const provider = z.object({
  name: z.string(),
  kind: z.string(),
  host: z.string().nullable(),
  secret_set: z.boolean(),
  routes: z.array(
    z.object({
      route: z.string(),
      state: routeState,
      /** The operator's reason while disabled; otherwise why it is not live; null while live. */
      reason: z.string().nullable(),
      circuit,
      failures: count,
      next_probe_at: time.nullable(),
    }),
  ),
  running: count,
  /** In the last 24 hours, by class of failure. */
  errors: z.array(z.object({ class: z.string(), attempts: count })),
  /**
   * In the last 24 hours: calls whose provider's figures were not accepted unchanged, by reason
   * (docs/money.md).
   */
  doubts: z.array(z.object({ doubt, attempts: count })),
  /** Paid by the platform in 30 days: price above charges. */
  variance_usd: usd,
  /** Null if this provider is not probed, or not yet; as seen by the responding gateway. */
  last_probe: z.object({ at: time, failing: z.boolean() }).nullable(),
  /** True if it can be probed. */
  probed: z.boolean(),
  /** Why our account there is refused; null if it is not. As seen by the responding gateway. */
  account: z
    .object({ cause: z.enum(["account", "quota"]), words: z.string().nullable(), at: time })
    .nullable(),
  /** The breaker if an operator opened it; null while it follows the calls. */
  opened: z.object({ reason: z.string(), by: personRef, at: time }).nullable(),
});
/** A probe on request: whether the provider responded well, and how long that took. */
export const probeResult = z.object({ provider, well: z.boolean(), ms: milliseconds });
export const openBreakerInput = z.strictObject({ reason: line() });
export const providerList = listOf(provider);

export const health = z.object({
  version: z.string(),
  started_at: time,
  /** Whether its file was changed or removed since this gateway read it; null if there was none. */
  configuration: z.object({ file_changed: z.boolean() }).nullable(),
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
  /** Requests with a damaged record: held until an operator decides. */
  quarantined: count,
  /** Organizations whose paid calls are refused because their books do not add up. */
  stopped: count,
  /** Of this process since its start: failed runs of background work, by job. */
  failed_jobs: z.array(z.object({ job: z.string(), failures: count })),
  /** Of this process since its start. */
  overload_refusals: count,
  schema_version: count,
  last_sweep_at: time.nullable(),
  /** The last backup of `db backup`; null on PostgreSQL, which has its own backup tools. */
  backup: z
    .object({
      last_at: time.nullable(),
      bytes: count.nullable(),
      /** There is none, or it is older than 7 days. */
      overdue: z.boolean(),
    })
    .nullable(),
  /** How far this gateway's clock is ahead of its database's; null on SQLite, which has none. */
  clock_offset_ms: z.number().nullable(),
  /** Of this process's last commits, 1,024 at most; null before the first. */
  commits: z.object({
    waiting: count,
    of: count,
    operations_mean: z.number().nullable(),
    operations_most: count.nullable(),
    ms_p50: milliseconds.nullable(),
    ms_p99: milliseconds.nullable(),
  }),
  /** The gateways of a PostgreSQL store; empty on SQLite, which has one. */
  gateways: z.array(z.object({ name: z.string(), started_at: time, lease_until: time, valid: z.boolean() })),
});

/** Data to attach to a support question: states and figures, but no secrets, names of persons or content. */
export const supportBundle = z.object({
  made_at: time,
  health,
  runtime: z.object({ bun: z.string(), platform: z.string(), arch: z.string(), schema_version: count }),
  settings: z.record(z.string(), z.unknown()),
  providers: z.array(provider.omit({ opened: true }).extend({ opened: z.boolean() })),
  routes: z.array(route),
});

const namedViolation = auditReportSchema.shape.violations.element.extend({ org_name: z.string().nullable() });

export const ledgerReport = auditReportSchema.extend({
  violations: z.array(namedViolation),
  accepted: z.array(namedViolation),
  /** Oldest first, 100 at most. */
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
/** A null `charge_usd` releases the whole hold. */
export const resolveInput = z.strictObject({ charge_usd: usdInput.nullable(), reason: line(500) });
export const resolvedRequest = resolvedSchema;

export const stoppedList = listOf(stoppedOrganizationSchema.extend({ org_name: z.string().nullable() }));
export const resumeInput = z.strictObject({ reason: line(500) });
export const resumedOrganization = resumedOrganizationSchema;
