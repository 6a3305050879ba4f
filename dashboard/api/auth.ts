// Signing in and out, and the ways to do it. These are the sign-in library's paths below `/auth`; everything else is
// in `routes.ts`.
import { useSend } from "./change.ts";
import { ApiError, get, send } from "./client.ts";

/** The session cookie is set, a second factor is required, or the browser is leaving for another host. */
export type SignedIn = { kind: "signed_in" } | { kind: "code_needed" } | { kind: "leaving" };

export async function signIn(credentials: { email: string; password: string }): Promise<SignedIn> {
  const answer = await send<{ twoFactorRedirect?: boolean }>("/auth/sign-in/email", { body: credentials });
  return answer.twoFactorRedirect === true ? { kind: "code_needed" } : { kind: "signed_in" };
}

export const verifyCode = (code: string): Promise<unknown> =>
  send("/auth/two-factor/verify-totp", { body: { code } });

/** Each of these codes works once. */
export const verifyBackupCode = (code: string): Promise<unknown> =>
  send("/auth/two-factor/verify-backup-code", { body: { code } });

export const signOut = (): Promise<unknown> => send("/auth/sign-out");

/** Sends the browser to the company's sign-in, which sends it back to `target`, or to `refused` with an `error`. */
export async function signInWithCompany(
  provider: string,
  { target, refused }: { target: string; refused: string },
): Promise<SignedIn> {
  const body = { provider, callbackURL: target, errorCallbackURL: refused };
  const { url } = await send<{ url: string }>("/auth/sign-in/social", { body });
  location.assign(url);
  return { kind: "leaving" };
}

/** The browser asks for the passkey; the server checks the signature. */
export async function signInWithPasskey(): Promise<SignedIn> {
  const options = await get<PublicKeyCredentialRequestOptionsJSON>(
    "/auth/passkey/generate-authenticate-options",
  );
  // The server requires this: the passkey also counts as the second factor.
  const asked = { ...options, userVerification: "required" };
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(asked);
  const response = await signed(() => navigator.credentials.get({ publicKey }));
  await send("/auth/passkey/verify-authentication", { body: { response } });
  return { kind: "signed_in" };
}

async function addPasskey(name: string): Promise<void> {
  const options = await get<PublicKeyCredentialCreationOptionsJSON>(
    "/auth/passkey/generate-register-options",
  );
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const response = await signed(() => navigator.credentials.create({ publicKey }));
  await send("/auth/passkey/verify-registration", { body: { response, name } });
}

const NOT_ALLOWED = "No passkey was used: the browser's prompt was closed or timed out.";
/** The browsers' error names for a missing passkey. */
const WITHOUT_PASSKEY: Record<string, string> = {
  NotAllowedError: NOT_ALLOWED,
  InvalidStateError: "This device already has one of your passkeys.",
  SecurityError: "Browsers do not allow passkeys at this address.",
};

/** What the passkey signed; if there is none, throws the browser's reason in our words. */
async function signed(ask: () => Promise<Credential | null>): Promise<unknown> {
  try {
    const credential = await ask();
    if (credential instanceof PublicKeyCredential) return credential.toJSON();
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    throw withoutPasskey(WITHOUT_PASSKEY[error.name] ?? error.message);
  }
  throw withoutPasskey(NOT_ALLOWED);
}

const withoutPasskey = (message: string): ApiError =>
  new ApiError({ status: 400, code: "no_passkey", message, requestId: null, param: null });

/**
 * True if this browser supports passkeys and can use them here: they belong to a host name, not to an address such as
 * 127.0.0.1.
 */
export const canUsePasskeys = (): boolean =>
  typeof PublicKeyCredential === "function" &&
  "parseRequestOptionsFromJSON" in PublicKeyCredential &&
  !/^[\d.]+$|^\[/.test(location.hostname);

const PROFILE = ["profile"] as const;
/** An organization may have required the second factor before it showed anything. */
const EVERYTHING = [] as const;

export const useAddPasskey = (onDone: () => void) =>
  useSend({ send: (name: string) => addPasskey(name), onDone, stale: PROFILE });
export const useRemovePasskey = (onDone: () => void) =>
  useSend({
    send: (id: string) => send<unknown>("/auth/passkey/delete-passkey", { body: { id } }),
    onDone,
    stale: PROFILE,
  });

/** The secret for an authenticator app, and backup codes in case the phone is lost. */
export interface NewSecondFactor {
  totpURI: string;
  backupCodes: string[];
}
export const useBeginSecondFactor = (onDone: (made: NewSecondFactor) => void) =>
  useSend({
    send: (password: string) => send<NewSecondFactor>("/auth/two-factor/enable", { body: { password } }),
    onDone,
    stale: PROFILE,
  });
export const useFinishSecondFactor = (onDone: () => void) =>
  useSend({ send: verifyCode, onDone, stale: EVERYTHING });
export const useNewBackupCodes = (onDone: (made: Pick<NewSecondFactor, "backupCodes">) => void) =>
  useSend({
    send: (password: string) =>
      send<Pick<NewSecondFactor, "backupCodes">>("/auth/two-factor/generate-backup-codes", {
        body: { password },
      }),
    onDone,
    stale: PROFILE,
  });
export const useEndSecondFactor = () =>
  useSend({
    send: (password: string) => send<unknown>("/auth/two-factor/disable", { body: { password } }),
    onDone: () => {},
    stale: EVERYTHING,
  });
