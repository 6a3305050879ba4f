// The key that pays in the playground by default.
import { allows } from "../../../src/domain/allowed-models.ts";
import type { Row } from "../../api/routes.ts";

type Key = Pick<Row<"GET /orgs/{org}/keys">, "scope" | "blocked_by_limit" | "allowed_models">;
type Model = Pick<Row<"GET /orgs/{org}/models">, "id" | "tier">;

const mayCall = (key: Key, { id, tier }: Model): boolean =>
  key.scope === tier && allows(key.allowed_models, id);

/** True if it may call the model and has something left. */
export const canPay = (key: Key, model: Model): boolean => mayCall(key, model) && !key.blocked_by_limit;

/** The first one that may call the model and has something left; otherwise one whose refusal says what is missing. */
export function payingKey<Of extends Key>(keys: readonly Of[], model: Model | undefined): Of | undefined {
  if (model === undefined) return keys[0];
  return (
    keys.find((key) => canPay(key, model)) ??
    keys.find((key) => mayCall(key, model)) ??
    keys.find(({ scope }) => scope === model.tier) ??
    keys[0]
  );
}
