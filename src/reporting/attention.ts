// What needs a look on the overview, with the way to it: each entry names what finds its target on its page.
import type { AlertRuleJson } from "../api/shapes/alerts.ts";
import type { AutoTopUpJson } from "../api/shapes/billing.ts";
import type * as spendShapes from "../api/shapes/spend.ts";
import type { z } from "zod";
import type { AlertKind } from "../domain/alert-kinds.ts";
import { formatUsd, type NanoUsd } from "../domain/money.ts";
import type { Reader } from "../ledger/ledger.ts";
import type { KeyRecord } from "../registry/api-keys.ts";
import { activeEntitlements } from "../registry/entitlements.ts";

type Overview = z.output<typeof spendShapes.overview>;

export interface AttentionPorts {
  ledger: Reader;
  paymentService: { autoTopUp(org: string): Promise<AutoTopUpJson> };
  alertService: { rules(org: string): Promise<{ data: AlertRuleJson[] }> };
}

const NEAR_LIMIT_PERCENT = 90n;
const ENDS_SOON_MS = 7 * 86_400_000;

interface Figures {
  routes: Overview["routes"];
  keys: readonly KeyRecord[];
  available: NanoUsd;
  debt: NanoUsd;
  burn: NanoUsd;
  nowMs: number;
}

export async function attentionOf(
  on: AttentionPorts,
  organizationId: string,
  { keys, routes, available, debt, burn, nowMs }: Figures,
): Promise<Overview["attention"]> {
  const found: Overview["attention"] = [];
  if (debt > 0n)
    found.push({
      kind: "debt",
      target: null,
      search: null,
      text: `A debt of $${formatUsd(debt)} stops every request. Add credits.`,
    });
  else if (burn > 0n && available < burn * 3n)
    found.push({
      kind: "low_balance",
      target: null,
      search: null,
      text: "Credits last less than 3 days at the pace of the last 7.",
    });
  for (const key of keys) {
    if (key.revokedAtMs !== null || key.limit === null) continue;
    const used = key.monthSpend + key.held;
    if (used >= key.limit)
      found.push({
        kind: "key_at_limit",
        target: key.id,
        search: key.id,
        text: `${key.name} has reached its monthly limit.`,
      });
    else if (used * 100n >= key.limit * NEAR_LIMIT_PERCENT)
      found.push({
        kind: "key_near_limit",
        target: key.id,
        search: key.id,
        text: `${key.name} is at 90 % of its monthly limit.`,
      });
  }
  for (const entitlement of await activeEntitlements(on.ledger, organizationId)) {
    if (entitlement.expiresAtMs === null) continue;
    if (entitlement.expiresAtMs - nowMs < ENDS_SOON_MS)
      found.push({
        kind: "entitlement_ends",
        target: entitlement.id,
        search: entitlement.model,
        text: `The entitlement for ${entitlement.model} ends within 7 days.`,
      });
  }
  for (const { route, model, state } of routes) {
    if (state === "live") continue;
    found.push({ kind: "route_closed", target: route, search: model, text: `${route} is ${state}.` });
  }
  const { last_failure: failure } = await on.paymentService.autoTopUp(organizationId);
  if (failure !== null)
    found.push({
      kind: "top_up_failed",
      target: failure.order,
      search: null,
      text: "The last automatic top-up failed.",
    });
  for (const rule of (await on.alertService.rules(organizationId)).data) {
    if (!rule.on || !rule.firing || SAID_ABOVE.has(rule.kind)) continue;
    found.push({ kind: "alert_holds", target: rule.id, search: null, text: HOLDS[rule.kind] });
  }
  return found;
}

/** Of these the overview says more itself. */
const SAID_ABOVE = new Set<AlertKind>(["auto_top_up_failed", "route_not_live", "key_limit"]);
const HOLDS: Record<AlertKind, string> = {
  balance_below: "An alert rule holds: the balance is below its amount.",
  days_left_below: "An alert rule holds: credits last less than its days.",
  key_limit: "An alert rule holds: a key is near its limit.",
  spend_per_day: "An alert rule holds: today's spend is above its amount.",
  error_rate: "An alert rule holds: too many requests fail.",
  route_not_live: "An alert rule holds: a route is not live.",
  auto_top_up_failed: "An alert rule holds: the automatic top-up failed.",
};
