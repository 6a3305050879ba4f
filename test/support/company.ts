// A company's sign-in service, as far as OpenID Connect needs it: discovery, keys, and a token for the person set by
// the test.
import { exportJWK, generateKeyPair, SignJWT } from "jose";

interface Employee {
  sub: string;
  email: string | string[];
  email_verified: boolean | string;
  name: string;
}

export interface Company {
  discoveryUrl: string;
  /** Who signs in next; null declines. */
  person: Employee | null;
  /** What its userinfo endpoint returns: the token then has only the subject. Null: the token has everything. */
  userInfo: Employee | null;
  /** True if its tokens have an expiry. */
  tokensEnd: boolean;
  /** How it treats requests. */
  state: "up" | "down" | "hanging";
  /** Follows the gateway's redirect, as a browser would, and returns the address to go back to. */
  approve(authorizationUrl: string): string;
  /** Its signed statement about the current person, for a sign-in with this nonce. */
  idToken(nonce: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startCompany(clientId: string): Promise<Company> {
  const { publicKey, privateKey } = await generateKeyPair("RS256");
  const jwk = { ...(await exportJWK(publicKey)), kid: "company", alg: "RS256", use: "sig" };
  const nonces = new Map<string, string | null>();
  const now = {
    person: { sub: "1", email: "", email_verified: true, name: "" } as Employee | null,
    userInfo: null as Employee | null,
    tokensEnd: true,
    state: "up" as Company["state"],
  };

  function approve(authorizationUrl: string): string {
    const { searchParams } = new URL(authorizationUrl);
    const back = new URL(searchParams.get("redirect_uri") ?? "");
    back.searchParams.set("state", searchParams.get("state") ?? "");
    if (now.person === null) {
      back.searchParams.set("error", "access_denied");
      return back.href;
    }
    const code = crypto.randomUUID();
    nonces.set(code, searchParams.get("nonce"));
    back.searchParams.set("code", code);
    return back.href;
  }

  function idToken(issuer: string, nonce: string | null): Promise<string> {
    const said = now.userInfo === null ? now.person : { sub: now.person?.sub };
    const token = new SignJWT({ ...said, ...(nonce !== null && { nonce }) })
      .setProtectedHeader({ alg: "RS256", kid: "company" })
      .setIssuer(issuer)
      .setAudience(clientId)
      .setIssuedAt();
    return (now.tokensEnd ? token.setExpirationTime("5m") : token).sign(privateKey);
  }

  async function tokens(issuer: string, code: string | null): Promise<object> {
    const id_token = await idToken(issuer, nonces.get(code ?? "") ?? null);
    return { access_token: "access", token_type: "Bearer", expires_in: 300, id_token };
  }

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: async (request): Promise<Response> => {
      const { pathname, origin } = new URL(request.url);
      if (now.state === "hanging") return await new Promise<Response>(() => {});
      if (now.state === "down") return new Response(null, { status: 503 });
      if (pathname === "/.well-known/openid-configuration") return Response.json(discovery(origin));
      if (pathname === "/authorize") return Response.redirect(approve(request.url));
      if (pathname === "/jwks") return Response.json({ keys: [jwk] });
      if (pathname === "/userinfo") return Response.json(now.userInfo);
      if (pathname !== "/token") return new Response(null, { status: 404 });
      return Response.json(await tokens(origin, new URLSearchParams(await request.text()).get("code")));
    },
  });
  return Object.assign(now, {
    discoveryUrl: `http://127.0.0.1:${server.port}/.well-known/openid-configuration`,
    approve,
    idToken: (nonce: string) => idToken(`http://127.0.0.1:${server.port}`, nonce),
    stop: () => server.stop(true),
  });
}

const discovery = (issuer: string): object => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  userinfo_endpoint: `${issuer}/userinfo`,
  jwks_uri: `${issuer}/jwks`,
  response_types_supported: ["code"],
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: ["RS256"],
});
