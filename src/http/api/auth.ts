// `/auth/*`: the sign-in library's door, behind our own checks of Origin and media type. Each sign-in, each sign-out and each
// change of a person's ways to sign in gets a line in the audit log.
import type { Actor, From } from "../../domain/actor.ts";
import type { AuditNote } from "../../domain/audit-note.ts";
import { OperatorRefusal } from "../../domain/operator-refusals.ts";
import { parseJson } from "../../domain/parse-json.ts";
import type { People } from "../../people/people.ts";
import { type BodyTerms, readJsonBody, strangersRoom } from "../body.ts";
import { replyOperatorRefusal } from "../reply.ts";
import type { Uploads } from "../../limits/uploads.ts";
import type { ApiHandler } from "./handler.ts";
import { checkOrigin } from "./origin.ts";
import { arrivedAs } from "../../api/session.ts";

export interface AuthPorts {
  people: People;
  origins: readonly string[];
  uploads: Uploads;
}

const TURNED_ON = "person.second_factor_on";

/** Changes that a signed-in person makes to their own ways to sign in. They may set a new cookie, but are not sign-ins. */
const CHANGES: Record<string, string> = {
  "/auth/sign-out": "person.sign_out",
  "/auth/two-factor/verify-totp": TURNED_ON,
  "/auth/two-factor/disable": "person.second_factor_off",
  "/auth/two-factor/generate-backup-codes": "person.backup_codes",
  "/auth/passkey/verify-registration": "person.passkey_add",
  "/auth/passkey/delete-passkey": "person.passkey_remove",
};

const BODY_BYTES = 64 * 1024;

/** Throws `Refusal` for a foreign origin and for a body that is too large; the library's own refusals are its answers. */
export function authHandler(on: AuthPorts): ApiHandler {
  return async (request, { visitor, requestId }) => {
    const from = { address: visitor.address, requestId };
    try {
      checkOrigin(request, on.origins);
      const terms = { ...strangersRoom(on.uploads, "auth", visitor.address), limitBytes: BODY_BYTES };
      const bounded = request.method === "GET" ? request : await withBody(request, terms);
      const action = CHANGES[new URL(request.url).pathname];
      const before = action === undefined ? null : await on.people.sessionOf(visitor);
      const response = await on.people.written(
        () => on.people.handle(bounded, visitor, requestId),
        (answer) => {
          if (action === undefined || before === null) return signInOf(on, answer, from);
          const { id, twoFactor } = before.person;
          return answer.ok && !(action === TURNED_ON && twoFactor) ? ownLine(action, { id, ...from }) : null;
        },
      );
      response.headers.set("x-request-id", requestId);
      response.headers.set("x-content-type-options", "nosniff");
      response.headers.set("referrer-policy", "no-referrer");
      return response;
    } catch (error) {
      if (error instanceof OperatorRefusal) return replyOperatorRefusal(requestId, error);
      throw error;
    }
  };
}

/** The same request with its body read: the library would read a body of any size, and store a NUL. */
async function withBody(request: Request, terms: BodyTerms): Promise<Request> {
  const body = await readJsonBody(request, terms);
  if (body.length > 0) parseJson(body);
  return new Request(request.url, { method: request.method, headers: request.headers, body });
}

/** An answer that sets a session cookie is a sign-in, by whatever method. */
async function signInOf(on: AuthPorts, response: Response, from: From): Promise<AuditNote | null> {
  const cookies = response.headers.getSetCookie();
  if (!cookies.some((cookie) => /session_token=[^;]+;/.test(cookie) && !/max-age=0/i.test(cookie)))
    return null;
  const signedIn = await arrivedAs(on, cookies);
  return signedIn === null ? null : ownLine("person.sign_in", { id: signedIn.person.id, ...from });
}

const ownLine = (action: string, actor: Actor): AuditNote => ({
  actor,
  action,
  organizationId: null,
  target: actor.id,
});
