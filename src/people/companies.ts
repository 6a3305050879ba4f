// Sign-in by a company's own service, over OpenID Connect.
import { genericOAuth } from "better-auth/plugins/generic-oauth";

export interface OidcProvider {
  id: string;
  name: string;
  discoveryUrl: string;
  clientId: string;
  clientSecret: string;
}

/**
 * The library asks every company's service for its addresses before it answers anybody, and one that hangs would keep all from
 * signing in. So each is asked when somebody first comes by it, for ten seconds at most, as the library does with one that failed.
 */
export function companies(oidc: OidcProvider[]) {
  const plugin = genericOAuth({ config: [] });
  const genericOAuthPendingDiscovery = new Map(oidc.map((provider) => [provider.id, oidcConfig(provider)]));
  return {
    ...plugin,
    init: async (...given: Parameters<typeof plugin.init>) => {
      const { context } = await plugin.init(...given);
      return { context: { ...context, genericOAuthPendingDiscovery } };
    },
  };
}

/** Company sign-in lets in whom somebody invited: no account is made by it. */
const oidcConfig = ({ id, discoveryUrl, clientId, clientSecret }: OidcProvider) => ({
  providerId: id,
  discoveryUrl,
  clientId,
  clientSecret,
  scopes: ["openid", "email", "profile"],
  pkce: true,
  requireIdTokenVerification: true,
  disableImplicitSignUp: true,
  disableSignUp: true,
  // Some services write a text: these two are a yes, whatever a library makes of others.
  mapProfileToUser: ({ email, email_verified: verified }: Record<string, unknown>) => ({
    emailVerified: verified === true || verified === "true",
    ...(typeof email !== "string" && { email: "" }), // it would fail at anything else
  }),
});
