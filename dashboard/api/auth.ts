// Signing in and out. These are the paths of the sign-in library behind `/auth`; everything else is our own contract.
import { get, send } from "./client.ts";

/** The session cookie is set, or a second factor is asked for. */
export type SignedIn = { kind: "signed_in" } | { kind: "code_needed" };

export async function signIn(credentials: { email: string; password: string }): Promise<SignedIn> {
  const answer = await send<{ twoFactorRedirect?: boolean }>("/auth/sign-in/email", { body: credentials });
  return answer.twoFactorRedirect === true ? { kind: "code_needed" } : { kind: "signed_in" };
}

export const verifyCode = (code: string): Promise<unknown> =>
  send("/auth/two-factor/verify-totp", { body: { code } });

export const signOut = (): Promise<unknown> => send("/auth/sign-out");

/** The browser asks for the passkey; the server checks what it signed. */
export async function signInWithPasskey(): Promise<void> {
  const options = await get<PublicKeyCredentialRequestOptionsJSON>(
    "/auth/passkey/generate-authenticate-options",
  );
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const credential = await navigator.credentials.get({ publicKey });
  if (!(credential instanceof PublicKeyCredential)) throw new Error("The browser gave no passkey.");
  await send("/auth/passkey/verify-authentication", { body: { response: credential.toJSON() } });
}

export async function addPasskey(name: string): Promise<void> {
  const options = await get<PublicKeyCredentialCreationOptionsJSON>(
    "/auth/passkey/generate-register-options",
    { name },
  );
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const credential = await navigator.credentials.create({ publicKey });
  if (!(credential instanceof PublicKeyCredential)) throw new Error("The browser made no passkey.");
  await send("/auth/passkey/verify-registration", { body: { response: credential.toJSON(), name } });
}

export const canUsePasskeys = (): boolean =>
  typeof PublicKeyCredential === "function" && "parseRequestOptionsFromJSON" in PublicKeyCredential;
