// Models as an organization sees them: what they accept and cost, the state of their routes, whether it may
// call them.
import { activeEntitlements } from "../registry/entitlements.ts";
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import type * as catalogueShapes from "../api/shapes/catalogue.ts";
import type { z } from "zod";
import { publishedRate } from "../domain/price.ts";
import type { Release } from "../domain/release.ts";
import { printTime } from "../domain/print.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { nearestToLive, type RouteStanding } from "../releases/standing.ts";
import { estimateOf } from "./arithmetic.ts";
import { type SeenPorts, seenOfModels } from "./seen-of-models.ts";

type Model = z.output<typeof catalogueShapes.modelList>["data"][number];

export interface CataloguePorts extends SeenPorts {
  ledger: Pick<Ledger, "balance" | "read">;
  standings(): RouteStanding[];
}

/** All models by name: whether the organization may call each, and what its own recent requests showed of it. */
export async function modelsOf(on: CataloguePorts, organizationId: string): Promise<Model[]> {
  const paid = (await on.ledger.balance(organizationId))?.paidWorkspace === true;
  const entitled = new Set((await activeEntitlements(on.ledger, organizationId)).map(({ model }) => model));
  const seen = await seenOfModels(on, organizationId);
  return [...byModel(on.standings())]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, routes]) => ({
      ...printModel(id, routes, { paid, entitled: entitled.has(id) }),
      seen: seen.get(id) ?? null,
    }));
}

/** The cost of the given tokens. Throws `OperatorRefusal` if there is no such model. */
export function estimateFor(
  on: Pick<CataloguePorts, "standings">,
  { model, input_tokens, cached_tokens = 0, output_tokens }: z.output<typeof catalogueShapes.estimateQuery>,
): z.output<typeof catalogueShapes.estimate> {
  const standing = byModel(on.standings()).get(model)?.[0];
  if (standing === undefined) throw new OperatorRefusal("not_found", "There is no such model.", "model");
  const cached = Math.min(cached_tokens, input_tokens);
  return estimateOf({ input: input_tokens, cached, output: output_tokens }, standing.release);
}

function byModel(standings: readonly RouteStanding[]): Map<string, [RouteStanding, ...RouteStanding[]]> {
  const models = new Map<string, [RouteStanding, ...RouteStanding[]]>();
  for (const standing of standings.toSorted((a, b) => a.release.priority - b.release.priority)) {
    const routes = models.get(standing.release.model);
    if (routes === undefined) models.set(standing.release.model, [standing]);
    else routes.push(standing);
  }
  return models;
}

function printModel(
  id: string,
  routes: readonly [RouteStanding, ...RouteStanding[]],
  may: { paid: boolean; entitled: boolean },
): Omit<Model, "seen"> {
  const { release } = nearestToLive(routes);
  const { capabilities } = release;
  return {
    id,
    tier: release.tier,
    requires_paid: release.requiresPaid,
    access: accessTo(release, may),
    state: nearestToLive(routes).state,
    context_window: release.contextWindow,
    default_output_tokens: release.defaultOutputTokens,
    max_output_tokens: release.maxOutputTokens,
    price: priceOf(release),
    reasoning: release.reasoning,
    tools: capabilities.tools,
    images: capabilities.images,
    // A release stored before files existed does not mention them.
    files: Boolean(capabilities.files),
    json_schema: capabilities.json_schema,
    regions: [...new Set(routes.map((route) => route.release.region))],
    routes: routes.map((route) => ({
      route: route.release.route,
      provider: route.release.provider,
      region: route.release.region,
      state: route.state,
      reason: route.reason,
      release_version: route.release.version,
      signed_at: printTime(route.release.issuedAtMs),
      expires_at: printTime(route.release.expiresAtMs),
      circuit: route.circuit,
      price: priceOf(route.release),
    })),
  };
}

function accessTo(
  release: Release,
  { paid, entitled }: { paid: boolean; entitled: boolean },
): Model["access"] {
  if (release.tier === "research" && !entitled) return "entitlement_required";
  return release.requiresPaid && !paid ? "paid_workspace_required" : "open";
}

/** As published; an omitted cached rate is shown as its stand-in. */
export const priceOf = ({ publishedPrice }: Release): Model["price"] => ({
  ...publishedPrice,
  cached_input_per_million: publishedRate(publishedPrice, "cached_input"),
});
