// Which key pays in the playground until somebody chooses another one.
import type { Row } from "../../api/routes.ts";

type Key = Pick<Row<"GET /orgs/{org}/keys">, "scope" | "blocked_by_limit" | "allowed_models">;
type Model = Pick<Row<"GET /orgs/{org}/models">, "id" | "tier">;

/** Whether it may call the model and has something left. */
export const canPay = (key: Key, model: Model): boolean =>
  key.scope === model.tier &&
  (key.allowed_models === null || key.allowed_models.includes(model.id)) &&
  !key.blocked_by_limit;

/** The first one that may call the model and has something left; otherwise one whose refusal says what is missing. */
export function payingKey<Of extends Key>(keys: readonly Of[], model: Model | undefined): Of | undefined {
  const inScope = keys.filter(({ scope }) => scope === model?.tier);
  const allowed = inScope.filter(
    ({ allowed_models: models }) => models === null || (model !== undefined && models.includes(model.id)),
  );
  return allowed.find(({ blocked_by_limit }) => !blocked_by_limit) ?? allowed[0] ?? inScope[0] ?? keys[0];
}
