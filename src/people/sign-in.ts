// The sign-in library, wrapped: only this file, `companies.ts` and `library-call.ts` import better-auth
// (docs/decisions/0009-sign-in.md). It handles passwords, sessions, passkeys, one-time codes and company
// sign-in; organizations and roles are ours, next to the ledger.
import { passkey } from "@better-auth/passkey";
import { createOTP } from "@better-auth/utils/otp";
import { betterAuth, type BetterAuthOptions } from "better-auth";
import { APIError, createAuthMiddleware, getSessionFromCtx } from "better-auth/api";
import { hashPassword, symmetricDecrypt, verifyPassword } from "better-auth/crypto";
import { getMigrations } from "better-auth/db/migration";
import { twoFactor } from "better-auth/plugins/two-factor";
import { Refusal } from "../domain/refusals.ts";
import { randomBase62 } from "../lib/id.ts";
import type { Clock } from "../lib/clock.ts";
import { companies, type OidcProvider } from "./companies.ts";
import { addressProven } from "./proven-address.ts";
import { peopleSchema } from "./schema.ts";
import { libraryDatabase } from "./library-dialect.ts";
import { insideCall, keepPassword, markOfPassword, rememberPassword } from "./library-call.ts";
import type { PeopleStore } from "./store.ts";
import { ConcurrencyLimiter } from "../limits/concurrency-limiter.ts";

const DAY_S = 86_400;
const SESSION_S = 7 * DAY_S;
/** The limit per person; another sign-in ends the oldest. */
export const SESSIONS_MAX = 50;
/** The limit per person. */
const PASSKEYS_MAX = 20;
/**
 * Our own header with the socket's address, set by `handle`; a caller's header of this name is overwritten.
 */
export const ADDRESS_HEADER = "x-tollgate-address";

const PREFIXES: Record<string, string> = {
  user: "usr",
  session: "ses",
  membership: "mem",
  invitation: "inv",
  passkey: "pky",
};

/** Hashes passwords, and verifies one against its stored hash. */
export interface Passwords {
  hash(password: string): Promise<string>;
  verify(tried: { hash: string; password: string }): Promise<boolean>;
}

/**
 * scrypt: each call takes a tenth of a second of a full core, so that guessing at a stolen store does not
 * pay.
 */
const SCRYPT: Passwords = { hash: hashPassword, verify: verifyPassword };

export interface SignInOptions {
  store: PeopleStore;
  secret: string;
  /** The URL of the dashboard: origin of links, cookies and passkeys. */
  url: string;
  /** Every origin that may send changes. */
  origins: string[];
  oidc: OidcProvider[];
  signInsPerMinute: number;
  /** The store's clock: all gateways agree on a session's age. */
  clock: Clock;
  /** Default: scrypt. */
  passwords?: Passwords | undefined;
}

export type SignIn = Awaited<ReturnType<typeof openSignIn>>;

function busy(): Error {
  const refusal = new Refusal(
    "rate_limit_exceeded",
    "Too many people are signing in right now. Try again in a few seconds.",
    { retryAfterMs: 3000 },
  );
  const call = insideCall.getStore();
  if (call === undefined) return refusal;
  call.refusal = refusal;
  return new APIError("TOO_MANY_REQUESTS", { message: refusal.message });
}

/** Opens the library over its store, and creates or migrates its tables. */
export async function openSignIn(options: SignInOptions) {
  const limiter = new ConcurrencyLimiter(2, 64, busy);
  const passwords = options.passwords ?? SCRYPT;
  const settings = {
    ...betterAuthOptions(options),
    plugins: [
      twoFactor({ issuer: "Tollgate" }),
      passkey({
        rpName: "Tollgate",
        rpID: passkeyHost(options.url) ?? new URL(options.url).hostname,
        origin: options.origins,
        // Signing in starts without an address, so the device has to know whose passkey it is.
        authenticatorSelection: { residentKey: "required", userVerification: "required" },
      }),
      companies(options.oidc),
      {
        id: "tollgate-people",
        schema: peopleSchema,
        hooks: {
          before: [
            { matcher: ({ path }) => VERIFY_FACTOR.includes(path ?? ""), handler: rememberPassword },
            { matcher: ({ path }) => path === VERIFY_CODE, handler: codeWorksOnce },
            { matcher: ({ path }) => ADD_PASSKEY.includes(path ?? ""), handler: fewPasskeys },
          ],
        },
      },
    ],
    emailAndPassword: {
      enabled: true,
      // Accounts are created only through the first-run link and invitations.
      disableSignUp: true,
      minPasswordLength: 10,
      maxPasswordLength: 128,
      password: {
        hash: (password: string) => limiter.pass(() => passwords.hash(password)),
        verify: async (tried: { hash: string; password: string }) => {
          const fits = await limiter.pass(() => passwords.verify(tried));
          const call = insideCall.getStore();
          if (fits && call !== undefined) call.password = markOfPassword(tried.hash);
          return fits;
        },
      },
    },
  } satisfies BetterAuthOptions;
  const { store } = options;
  await store.alone(async () => {
    await (await getMigrations({ ...settings, database: store.database })).runMigrations();
    await store.outbox?.prepare();
  });
  const auth = betterAuth(settings);
  const context = await auth.$context;
  const { clock } = options;
  return { auth, context, records: context.adapter, internal: context.internalAdapter, clock };
}

/**
 * The host that passkeys belong to. Browsers accept a name, never a bare address; for loopback it is
 * `localhost`.
 */
export function passkeyHost(url: string): string | null {
  const { hostname } = new URL(url);
  if (hostname === "127.0.0.1" || hostname === "[::1]") return "localhost";
  return /^[\d.]+$|^\[/.test(hostname) ? null : hostname;
}

function betterAuthOptions({ store, secret, url, origins, signInsPerMinute, clock }: SignInOptions) {
  const secure = url.startsWith("https://");
  return {
    appName: "Tollgate",
    baseURL: url,
    basePath: "/auth",
    secret,
    database: libraryDatabase(store.transactions, store.locking === "" ? "sqlite" : "postgres"),
    trustedOrigins: origins,
    telemetry: { enabled: false },
    // Where a company sign-in ends if it cannot be assigned to a person: with `error` in the query.
    onAPIError: { errorURL: "/sign-in" },
    logger: { disabled: true },
    databaseHooks: {
      account: {
        create: {
          before: async ({ userId, providerId }) => {
            if (providerId !== "credential") await addressProven(store, userId);
          },
        },
      },
      verification: { create: { after: keepPassword } },
      session: {
        create: {
          before: async (session) => ({ data: { ...session, createdAt: new Date(clock.nowMs()) } }),
          after: async ({ id, userId }) => {
            const call = insideCall.getStore();
            if (call !== undefined) call.session = { id, userId };
            await store.change(OLDEST_SESSIONS, userId);
          },
        },
      },
    },
    // We judge freshness ourselves (`fresh.ts`): the library would use this machine's clock.
    session: { expiresIn: SESSION_S, updateAge: DAY_S, freshAge: 0, cookieCache: { enabled: false } },
    // Once somebody proves the address, a person who created the account without proof loses access to it
    // (`account.create` above).
    account: {
      accountLinking: { enabled: true, trustedProviders: [], requireLocalEmailVerified: false },
    },
    rateLimit: {
      enabled: true,
      storage: "database" as const,
      window: 60,
      max: 120,
      customRules: {
        "/sign-in/email": { window: 60, max: signInsPerMinute },
        "/sign-in/social": { window: 60, max: signInsPerMinute },
        "/two-factor/*": { window: 60, max: signInsPerMinute },
        "/passkey/verify-authentication": { window: 60, max: signInsPerMinute },
      },
    },
    advanced: {
      // Browsers accept a name with `__Host-` only over https, for this host and all paths (hardening.md
      // S25).
      cookiePrefix: secure ? "__Host-tollgate" : "tollgate",
      useSecureCookies: false,
      // Set explicitly, because the library skips these checks if NODE_ENV is "test".
      disableCSRFCheck: false,
      disableOriginCheck: false,
      defaultCookieAttributes: { secure, httpOnly: true, sameSite: "lax" as const, path: "/" },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      database: {
        generateId: ({ model }: { model: string }) => `${PREFIXES[model] ?? "row"}_${randomBase62(16)}`,
      },
    },
  } satisfies BetterAuthOptions;
}

const VERIFY_CODE = "/two-factor/verify-totp";
const VERIFY_FACTOR = [VERIFY_CODE, "/two-factor/verify-backup-code"];
export const ADD_PASSKEY = ["/passkey/generate-register-options", "/passkey/verify-registration"];
const CODE_STEP_MS = 30_000;
/** The library also accepts the codes of the previous and next step. */
const CODE_STEPS = [-1, 0, 1];

/**
 * Makes a code of an authenticator app work once, across gateways (RFC 6238 §5.2): its step is reserved in
 * the store before the library checks the code. All other refusals, with their counts of tries, are the
 * library's.
 */
const codeWorksOnce = createAuthMiddleware(async (ctx) => {
  const { internalAdapter: internal, adapter, secret, secretConfig } = ctx.context;
  const { code } = ctx.body as { code?: unknown };
  if (typeof code !== "string" || !/^\d{6}$/.test(code)) return;
  const pending = ctx.context.createAuthCookie("two_factor").name;
  const challenge = (await ctx.getSignedCookie(pending, secret)) || null;
  const userId =
    (await getSessionFromCtx(ctx))?.user.id ??
    (challenge === null ? null : (await internal.findVerificationValue(challenge))?.value);
  if (userId === null || userId === undefined) return;
  const factor = await adapter.findOne<{ id: string; secret: string }>({
    model: "twoFactor",
    where: [{ field: "userId", value: userId }],
  });
  if (factor === null) return;
  const otp = createOTP(await symmetricDecrypt({ key: secretConfig, data: factor.secret }));
  const now = Math.floor(Date.now() / CODE_STEP_MS);
  for (const step of CODE_STEPS.map((offset) => now + offset)) {
    if ((await otp.hotp(step)) !== code) continue;
    const identifier = `code ${factor.id} ${step}`;
    const expiresAt = new Date((step + 3) * CODE_STEP_MS);
    if (await internal.reserveVerificationValue({ identifier, value: "used", expiresAt })) return;
    throw new APIError("UNAUTHORIZED", {
      code: "CODE_USED",
      message: "This code was already used. Wait for the next one.",
    });
  }
});

/** Deletes the sessions beyond a person's limit, and with them those that expired long ago. */
const OLDEST_SESSIONS = `DELETE FROM session WHERE "userId" = ?1 AND id NOT IN (
  SELECT id FROM session WHERE "userId" = ?1 ORDER BY "createdAt" DESC, id DESC LIMIT ${SESSIONS_MAX})`;

const fewPasskeys = createAuthMiddleware(async (ctx) => {
  const person = (await getSessionFromCtx(ctx))?.user.id;
  if (person === undefined) return;
  const where = [{ field: "userId", value: person }];
  if ((await ctx.context.adapter.count({ model: "passkey", where })) < PASSKEYS_MAX) return;
  throw new APIError("CONFLICT", {
    code: "CONFLICT",
    message: `You have ${PASSKEYS_MAX} passkeys, which is the maximum. Remove one that you do not use, then add this one.`,
  });
});
