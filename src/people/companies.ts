// Sign-in by a company's own identity provider, over OpenID Connect.
import { genericOAuth } from "better-auth/plugins/generic-oauth";

export interface OidcProvider {
  id: string;
  name: string;
  discoveryUrl: string;
  clientId: string;
  clientSecret: string;
}

/**
 * The library would ask every company's provider for its endpoints before it responds to anybody, and one
 * that hangs would keep everybody from signing in. So each is asked when somebody first signs in with it, for
 * ten seconds at most, as the library does with one that failed.
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

/** Company sign-in only admits people who were invited: it creates no accounts. */
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
  // Some providers send a string: only these two values mean yes, whatever a library makes of others.
  mapProfileToUser: ({ email, email_verified: verified }: Record<string, unknown>) => ({
    emailVerified: verified === true || verified === "true",
    ...(typeof email !== "string" && { email: "" }), // anything else would make the library fail
  }),
});
