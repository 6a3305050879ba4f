// Models with their routes, the playground, Research Mode.
import { FIRST_SURFACE, SPOKEN_SURFACES } from "../../domain/surfaces.ts";
import { z } from "zod";
import { publishedPriceSchema } from "./price.ts";
import { entitlementSchema } from "./records.ts";
import { arithmetic } from "./activity.ts";
import {
  circuit,
  count,
  line,
  listOf,
  milliseconds,
  page,
  personRef,
  routeState,
  searchText,
  tier,
  time,
  timeInput,
  usd,
} from "./fields.ts";

/** As published, in US dollars; an omitted rate costs what its stand-in costs (docs/releases.md). */
export const price = publishedPriceSchema.extend({ cached_input_per_million: z.string() });

const model = z.object({
  id: z.string(),
  tier,
  requires_paid: z.boolean(),
  /** Whether this organization could call it now, or why not. */
  access: z.enum(["open", "paid_workspace_required", "entitlement_required"]),
  state: routeState,
  context_window: count,
  default_output_tokens: count,
  max_output_tokens: count,
  price,
  reasoning: z.object({ modes: z.array(z.string()), default: z.string() }).nullable(),
  tools: z.boolean(),
  images: z.boolean(),
  files: z.boolean(),
  json_schema: z.boolean(),
  regions: z.array(z.string()),
  /** From this organization's newest 2,000 requests of seven days; null if none of them has ended. */
  seen: z
    .object({
      requests: count,
      /** The share that did not fail on the way to the model. */
      uptime: z.number(),
      first_part_ms_p50: milliseconds.nullable(),
    })
    .nullable(),
  routes: z.array(
    z.object({
      route: z.string(),
      provider: z.string(),
      region: z.string(),
      state: routeState,
      reason: z.string().nullable(),
      release_version: count,
      signed_at: time,
      expires_at: time,
      circuit,
      price,
    }),
  ),
});
export const modelList = listOf(model);

/** An estimate of the cost for given token counts. */
export const estimateQuery = z.strictObject({
  model: z.string().max(200),
  input_tokens: z.coerce.number().int().min(0).max(1e9),
  cached_tokens: z.coerce.number().int().min(0).max(1e9).optional(),
  output_tokens: z.coerce.number().int().min(0).max(1e9),
});
export const estimate = arithmetic.pick({
  lines: true,
  sum_usd: true,
  minimum_usd: true,
  minimum_applied: true,
  charge_usd: true,
});

/**
 * A request of the playground: `request` is exactly what the surface accepts, and the response is exactly
 * what it returns, including streams. `key` pays, with its scope, limit and rate. Header Idempotency-Key as
 * on `/v1`.
 */
export const playgroundInput = z.strictObject({
  key: z.string().max(60),
  surface: z.enum(SPOKEN_SURFACES).default(FIRST_SURFACE),
  request: z.record(z.string(), z.unknown()),
});
/** The surface's quote: what would be held. */
export const playgroundQuote = z.looseObject({});

const entitlementState = z.enum(["requested", "active", "expired", "revoked", "declined", "withdrawn"]);
export const entitlement = entitlementSchema.extend({
  asked_by: personRef.nullable(),
  decided_by: personRef.nullable(),
  purpose: z.string().nullable(),
  wanted_until: time.nullable(),
  /** The operator's, with a refusal or an approval. */
  note: z.string().nullable(),
  state: entitlementState,
  /** Charges for the model from the approval until the entitlement ended. */
  spend_usd: usd,
  routes: z.array(z.object({ route: z.string(), state: routeState, reason: z.string().nullable() })),
});
export const entitlementList = listOf(entitlement);
export const askInput = z.strictObject({
  model: line(),
  project: line(),
  purpose: line(1000),
  until: timeInput.nullable().default(null),
});
export const approveInput = z.strictObject({ expires: timeInput, note: line(500).nullable().default(null) });
export const declineInput = z.strictObject({ reason: line(500) });

export const entitlementRow = entitlement.extend({
  org_name: z.string(),
  /** True if this operator may decide it: nobody approves their own request. */
  decidable: z.boolean(),
});
export const entitlementRowList = listOf(entitlementRow);
/** `search`: a part of the model, the project or the requester's name, or an id. */
export const ownEntitlementsQuery = z.strictObject({
  ...page,
  state: entitlementState.optional(),
  search: searchText.optional(),
});
export const entitlementsQuery = ownEntitlementsQuery.extend({
  org: z.string().max(60).optional(),
});
