// Who calls the operator API: a management key, read from the store at every call (S4). An inference key is told that
// it stands at the wrong door; everybody else learns nothing (hardening.md 68, 70).
import { Refusal } from "../../contract/refusals.ts";
import { bearerOf } from "../../keys/bearer.ts";
import { parseKey, parseManagementKey } from "../../keys/secret.ts";
import type { Ledger } from "../../ledger/ledger.ts";

export type PrincipalStore = Pick<Ledger, "authenticate" | "authenticateManagementKey">;

/** The id of the management key that calls, for the audit log. Throws 401 or 403. */
export async function managementKeyOf(store: PrincipalStore, authorization: string | null): Promise<string> {
  const bearer = bearerOf(authorization);
  const management = parseManagementKey(bearer);
  if (management !== null) {
    const record = await store.authenticateManagementKey(management.id, management.digest);
    if (record === null || record.revokedAtMs !== null) throw unknownKey();
    return record.id;
  }
  const inference = parseKey(bearer);
  if (inference === null) throw unknownKey();
  const known = await store.authenticate(inference);
  if (known.kind === "refused") throw known.refusal;
  throw new Refusal(
    "scope_not_permitted",
    "An API key cannot call the operator API. Use a management key, gw_mk_….",
  );
}

const unknownKey = (): Refusal =>
  new Refusal(
    "invalid_api_key",
    "Incorrect API key provided. The operator API takes a management key, Authorization: Bearer gw_mk_….",
  );
