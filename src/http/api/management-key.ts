// Identifies a management key as an operator; read from the store at every call (S4). An inference key is told that it
// is used at the wrong API; all others learn nothing (hardening.md 68, 70).
import { authorizationOf } from "../../domain/credential.ts";
import { Refusal } from "../../domain/refusals.ts";
import { bearerOf } from "../../registry/bearer.ts";
import { parseKey, parseManagementKey } from "../../registry/secret.ts";
import type { Reader } from "../../ledger/ledger.ts";
import { authenticateKey } from "../../registry/api-keys.ts";
import type { ManagementKeyDoor, ManagementKeyRecord } from "../../registry/management-keys.ts";
import type { Door } from "./serve.ts";

export interface PrincipalStore extends ManagementKeyDoor {
  ledger: Reader;
}

export const keyDoor = (store: PrincipalStore): Door => ({
  root: "/admin/v1",
  identify: async (request, { visitor: { address }, requestId }) => {
    const { id, owner } = await managementKeyOf(store, authorizationOf(request.headers));
    return {
      actor: { id, address, requestId },
      person: owner,
      signedIn: null,
      standings: async () => ["operator"],
      holders: async () => "",
    };
  },
});

/** Returns the calling management key. Throws 401 or 403. */
async function managementKeyOf(
  store: PrincipalStore,
  authorization: string | null,
): Promise<ManagementKeyRecord> {
  const bearer = bearerOf(authorization);
  const management = parseManagementKey(bearer);
  if (management !== null) {
    const record = await store.authenticateManagementKey(management.id, management.digest);
    if (record === null || record.revokedAtMs !== null) throw unknownKey();
    return record;
  }
  const inference = parseKey(bearer);
  if (inference === null) throw unknownKey();
  const known = await authenticateKey(store.ledger, inference);
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
