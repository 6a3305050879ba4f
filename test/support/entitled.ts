// Creates an active entitlement with two persons: the installation's key requests it, somebody else approves it.
import { byItself } from "../../src/domain/actor.ts";
import type { TestGateway } from "./gateway.ts";
import { approveEntitlement } from "../../src/registry/entitlements.ts";

/** Returns its id. */
export async function entitled(
  gateway: Pick<TestGateway, "admin" | "ledger">,
  { org, model, untilMs }: { org: string; model: string; untilMs: number },
): Promise<string> {
  const asked = { org, model, project: "safety" };
  const { json, text } = await gateway.admin<{ id: string }>("POST", "/entitlements", asked);
  const approved = await approveEntitlement(
    gateway.ledger,
    json.id,
    { expiresAtMs: untilMs },
    byItself("usr_second"),
  );
  if (approved === null || approved === "second_person_required") throw new Error(text);
  return json.id;
}
