// `/auth/*`: which parts of the sign-in library are open, and how. Everything not listed here is 404
// (hardening.md S8); errors use our envelope; the session's token is sent only in its cookie.
import type { Visitor } from "./people.ts";
import { Refusal } from "../domain/refusals.ts";
import { sessionOf, trustedHeaders } from "./accounts.ts";
import { tooOld } from "./fresh.ts";
import { ADD_PASSKEY, type SignIn } from "./sign-in.ts";
import { standing } from "./still-stands.ts";
import type { ToldToWait } from "./told-to-wait.ts";

const PASSWORD = ["password"];
/**
 * The open paths, each with the fields that our pages send. The library accepts more, such as a company's
 * token without its sign-in, or a device that is never asked for its second factor again.
 */
const OPEN: Readonly<Record<string, readonly string[]>> = {
  "POST /auth/sign-in/email": ["email", "password"],
  "POST /auth/sign-in/social": ["provider", "callbackURL", "errorCallbackURL"],
  "POST /auth/sign-out": [],
  "POST /auth/two-factor/enable": PASSWORD,
  "POST /auth/two-factor/disable": PASSWORD,
  "POST /auth/two-factor/get-totp-uri": PASSWORD,
  "POST /auth/two-factor/verify-totp": ["code"],
  "POST /auth/two-factor/verify-backup-code": ["code"],
  "POST /auth/two-factor/generate-backup-codes": PASSWORD,
  "GET /auth/passkey/generate-register-options": [],
  "POST /auth/passkey/verify-registration": ["response", "name"],
  "GET /auth/passkey/generate-authenticate-options": [],
  "POST /auth/passkey/verify-authentication": ["response"],
  "POST /auth/passkey/delete-passkey": ["id"],
  "POST /auth/passkey/update-passkey": ["id", "name"],
};
const CALLBACK = /^GET \/auth\/callback\/[a-z0-9_-]{1,64}$/;
const PASSKEY_SIGN_IN = "/auth/passkey/verify-authentication";
/** Exactly this alphabet, so that the library decodes the same bytes as this code. */
const BASE64URL = /^[\w-]+$/;
/** Offset in WebAuthn's authenticator data, after the digest of the host. */
const FLAGS_AT = 32;
const USER_VERIFIED = 0x04;

/** Passes a request on to the library; its Origin, media type and size have been checked. */
export async function handleAuth(
  on: SignIn,
  request: Request,
  {
    visitor,
    requestId,
    slowDown,
    toldToWait,
  }: {
    visitor: Visitor;
    requestId: string;
    /** Throws if the password was tried too often. */
    slowDown(this: void, visitor: Visitor): Promise<void>;
    toldToWait: ToldToWait;
  },
): Promise<Response> {
  const url = new URL(request.url);
  const target = `${request.method} ${url.pathname}`;
  const fields = Object.hasOwn(OPEN, target) ? (OPEN[target] ?? []) : null;
  if (fields === null && !CALLBACK.test(target))
    throw new Refusal("unknown_url", "There is nothing at this URL.");
  const headers = trustedHeaders(visitor);
  const body = request.method === "GET" ? null : await request.text();
  checkFields(body ?? "", fields ?? []);
  toldToWait.check(visitor, url.pathname);
  if (fields === PASSWORD) await slowDown(visitor);
  if (
    ADD_PASSKEY.some((path) => url.pathname === `/auth${path}`) &&
    (await sessionOf(on, visitor))?.session.fresh === false
  )
    throw tooOld();
  if (url.pathname === PASSKEY_SIGN_IN && !userVerified(body ?? ""))
    throw new Refusal(
      "invalid_request",
      "Unlock the passkey with a fingerprint, your face or a PIN; a touch is not enough.",
    );
  // The library resolves against its own base URL; the Host header has no effect (hardening.md S17).
  const own = new URL(url.pathname + url.search, on.context.baseURL);
  const asked = new Request(own.href, { method: request.method, headers, ...(body !== null && { body }) });
  const passkey = url.pathname === PASSKEY_SIGN_IN ? credentialIn(body ?? "") : null;
  const answer = await standing(on, () => on.auth.handler(asked), { passkey });
  if (answer.status === 429)
    throw toldToWait.told(visitor, url.pathname, answer.headers.get("x-retry-after"));
  return answer.status >= 400 ? refusalOf(answer, requestId) : await sealed(answer);
}

function checkFields(body: string, fields: readonly string[]): void {
  const sent: unknown = body === "" ? {} : JSON.parse(body);
  if (typeof sent !== "object" || sent === null || Array.isArray(sent))
    throw new Refusal("invalid_request", "The body must be a JSON object.");
  const param = Object.keys(sent).find((name) => !fields.includes(name));
  if (param !== undefined)
    throw new Refusal("unknown_parameter", `There is no field ${JSON.stringify(param.slice(0, 100))} here.`, {
      param: param.slice(0, 100),
    });
}

async function sealed(answer: Response): Promise<Response> {
  const headers = new Headers(answer.headers);
  headers.set("cache-control", "no-store");
  const text = await answer.text();
  return new Response(withoutToken(text), { status: answer.status, headers });
}

/** Removes the session's token, wherever the library put it. */
function withoutToken(text: string): string {
  if (!text.includes('"token"')) return text;
  return JSON.stringify(JSON.parse(text, (name, value: unknown) => (name === "token" ? undefined : value)));
}

/** The credential of the presented passkey, in its stored form. */
function credentialIn(body: string): string {
  const { response } = membersOf(body) as { response?: { id?: unknown } | null };
  return typeof response?.id === "string" ? response.id : "";
}

/**
 * True if the device asked for a fingerprint or a PIN. A passkey replaces password and second factor, but the
 * library accepts a mere touch. The flag is part of what the passkey signed, so it cannot be forged on the
 * way.
 */
function userVerified(body: string): boolean {
  try {
    const { response } = JSON.parse(body) as { response?: { response?: { authenticatorData?: unknown } } };
    const data = response?.response?.authenticatorData;
    if (typeof data !== "string" || !BASE64URL.test(data)) return false;
    return ((Buffer.from(data, "base64url")[FLAGS_AT] ?? 0) & USER_VERIFIED) !== 0;
  } catch {
    return false;
  }
}

/** The library's refusal in our envelope. Throws `internal_error` if the library itself failed. */
async function refusalOf(answer: Response, requestId: string): Promise<Response> {
  const { status } = answer;
  if (status >= 500) throw new Refusal("internal_error", "Signing in failed inside the gateway.");
  const { code, message } = readError(await answer.text());
  const error = { message, type: "invalid_request_error", param: null, code, request_id: requestId };
  return new Response(JSON.stringify({ error }), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store" },
  });
}

/** The library's own code, in our spelling. */
function readError(text: string): { code: string; message: string } {
  const { code, message } = membersOf(text);
  return {
    code: typeof code === "string" ? code.toLowerCase().slice(0, 60) : "invalid_request",
    message: typeof message === "string" && message !== "" ? message.slice(0, 200) : "Signing in failed.",
  };
}

function membersOf(text: string): { code?: unknown; message?: unknown } {
  try {
    return { ...(JSON.parse(text) as object) };
  } catch {
    return {};
  }
}
