// The free endpoints of an inference key (wire.md §5): the key is read from the store at each call, never cached, and works while
// its limit blocks paid calls.
import { authorizationOf, type ShownIn } from "../domain/credential.ts";
import { credentialOf } from "../gateway/credential.ts";
import type { Reader } from "../ledger/ledger.ts";
import type { Handler, HttpContext } from "./context.ts";
import { authenticateKey, type KeyRecord } from "../registry/api-keys.ts";

/** Calls the handler with the caller's key, from the header that most clients use; 401 without one. */
export function withKey(
  ledger: Reader,
  handler: (context: HttpContext, key: KeyRecord) => Response | Promise<Response>,
  shownIn: ShownIn = "authorization",
): Handler {
  return async (context) => {
    const credential = credentialOf(authorizationOf(context.request.headers, shownIn));
    const authenticated = await authenticateKey(ledger, credential);
    if (authenticated.kind === "refused") throw authenticated.refusal;
    context.org = credential.organizationId;
    return handler(context, authenticated.key);
  };
}
