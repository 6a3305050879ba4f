// Checks a model name before something is stored under it: a name that no release has is a mistake, in every
// API (docs/decisions/0077-an-entitlement-names-what-there-is.md).
import { OperatorRefusal } from "../domain/operator-refusals.ts";
import { Refusal } from "../domain/refusals.ts";
import type { Publisher } from "../releases/publish.ts";

export type Released = Pick<Publisher, "hasRoute">;

/** Throws 404 `not_found` if no release names the model. */
export async function checkReleased(publisher: Released, model: string): Promise<void> {
  if (!(await publisher.hasRoute(model)))
    throw new OperatorRefusal("not_found", `No release names the model ${JSON.stringify(model)}.`, "model");
}

/**
 * The same, and 400 `invalid_request` if standard keys may use all its routes, so that an entitlement would
 * open nothing.
 */
export async function checkResearch(publisher: Released, model: string): Promise<void> {
  if (await publisher.hasRoute(model, "research")) return;
  await checkReleased(publisher, model);
  const message = `Only research models need an entitlement; ${JSON.stringify(model)} is not one.`;
  throw new Refusal("invalid_request", message, { param: "model" });
}
