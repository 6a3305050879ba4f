// What an operator does during a run: keys, limits, credits, routes, releases, and a look at the books.
import { formatUsd, nanoUsd } from "../src/domain/money.ts";
import type { Closing, KeyFacts } from "./history.ts";
import { modelNamed, routeIds } from "./models.ts";
import { asked } from "./operator.ts";
import type { Traffic } from "./plan.ts";
import { entitle, type World } from "./world.ts";

export async function revoke({ operator }: World, key: KeyFacts): Promise<void> {
  key.revoked = asked();
  await operator.change(key.revoked, "POST", `/keys/${key.keyId}/revoke`, {});
}

export async function limit({ operator }: World, key: KeyFacts, nano: bigint): Promise<void> {
  key.limits.push(nano);
  const usd = formatUsd(nanoUsd(nano));
  if (key.period === "month") await operator.change(asked(), "POST", `/keys/${key.keyId}/limit`, { usd });
  else
    await operator.change(asked(), "POST", `/keys/${key.keyId}/update`, { [`${key.period}_limit_usd`]: usd });
}

/** Pauses the key for a while. */
export async function pauseKey({ operator }: World, key: KeyFacts, ms: number): Promise<void> {
  if (key.pauses.some(({ endMs }) => endMs === null)) return;
  await shut(key.pauses, { what: key.keyId, ms }, async () => {
    await operator.change(asked(), "POST", `/keys/${key.keyId}/pause`, {});
    return async () => void (await operator.change(asked(), "POST", `/keys/${key.keyId}/resume`, {}));
  });
}

export async function topUp(
  { operator, history }: World,
  { customer, nano, reference }: Extract<Traffic, { do: "top_up" }>,
): Promise<void> {
  const facts = history.customers.get(customer);
  const grant = { org: facts?.organizationId, usd: formatUsd(nanoUsd(nano)), kind: "purchase", reference };
  await operator.change(asked(), "POST", "/credits", grant);
  facts?.credited.set(reference, nano);
}

/** Closes the model's routes or revokes the entitlements to it, and restores them later. */
export async function switchOff(
  world: World,
  { model, ms }: Extract<Traffic, { do: "switch" }>,
): Promise<void> {
  const { closings } = world.history;
  if (closings.some(({ what, endMs }) => what === model && endMs === null)) return;
  await shut(closings, { what: model, ms }, () =>
    modelNamed(model).switched === "entitlement" ? disentitle(world) : closeRoutes(world, model),
  );
}

/** Closes something for that long and reopens it. */
async function shut(
  closings: Closing[],
  { what, ms }: { what: string; ms: number },
  close: () => Promise<Reopen>,
): Promise<void> {
  const closing: Closing = { what, startMs: Date.now(), closedMs: null, openingMs: null, endMs: null };
  closings.push(closing);
  const reopen = await close();
  closing.closedMs = Date.now();
  await Bun.sleep(ms);
  closing.openingMs = Date.now();
  await reopen();
  closing.endMs = Date.now();
}

type Reopen = () => Promise<void>;

async function closeRoutes({ operator }: World, model: string): Promise<Reopen> {
  const routes = routeIds(modelNamed(model));
  for (const route of routes)
    await operator.change(asked(), "POST", "/routes/disable", { route, reason: "torture" });
  return async () => {
    for (const route of routes) await operator.change(asked(), "POST", "/routes/enable", { route });
  };
}

async function disentitle({ operator, second, history }: World): Promise<Reopen> {
  const entitled = [...history.customers.values()].filter(({ entitlementId }) => entitlementId !== null);
  for (const { entitlementId } of entitled)
    await operator.change(asked(), "POST", `/entitlements/${entitlementId}/revoke`, {});
  return async () => {
    for (const customer of entitled) await entitle({ operator, second }, customer);
  };
}

export async function publish(
  { publisher }: World,
  { model, older, ...terms }: Extract<Traffic, { do: "publish" }>,
): Promise<void> {
  await publisher.publish(modelNamed(model), terms);
  if (older) await publisher.publishOlder(modelNamed(model));
}

export async function watch({ operator, history }: World, customer: number): Promise<void> {
  const { json } = await operator.call(
    "GET",
    `/credits?org=${history.customers.get(customer)?.organizationId}`,
  );
  history.balances.push({ customer, atMs: Date.now(), balance: json as Record<string, string> });
}

export async function audit({ operator, history }: World): Promise<void> {
  const { json } = await operator.call("GET", "/ledger/audit");
  history.auditsTaken += 1;
  if (json["ok"] !== true) history.audits.push({ atMs: Date.now(), report: json });
}
