// The settings (interfaces.md §3): the single description behind the check at start, the defaults, the editor's JSON
// schema and the values that the code sees. Operators write `body_bytes`, the code reads `bodyBytes` (`group`). Every
// object is strict: a misspelt field is rejected, never ignored.
import { HOUR_MS } from "../domain/durations.ts";
import { z } from "zod";
import { NANO_PER_USD, type NanoUsd, nanoUsd } from "../domain/money.ts";
import { ANSWER_BYTES_MAX } from "../domain/answer-size.ts";
import { CALLER_LIMITS } from "../limits/caller-limits.ts";
import type { ProviderKind } from "../providers/kind.ts";
import { parseNetwork } from "../lib/networks.ts";
import { mail } from "./mail-settings.ts";
import { outbound } from "./outbound-settings.ts";
import { providers } from "./provider-settings.ts";
import { tracing } from "./tracing-settings.ts";
import {
  durations,
  group,
  inCode,
  isOrigin,
  nonEmpty,
  nullIfAbsent,
  upTo,
  upToMilliseconds,
  webUrl,
  withoutSlash,
} from "./setting-values.ts";

const port = z.int().min(0).max(65_535);

const listen = group({
  host: nonEmpty.default("127.0.0.1"),
  port: port.default(8080).describe("0 picks any free port."),
});

const server = group({
  trusted_proxies: z
    .array(
      nonEmpty.refine(
        (value) => parseNetwork(value) !== null,
        "must be an address or a network like 10.0.0.0/8",
      ),
    )
    .default([])
    .describe(
      "Reverse proxies whose X-Forwarded-For is trusted, for counting sign-in attempts per address and in logs.",
    ),
});

/** Each limit is off unless it is set. */
const callerLimits = Object.fromEntries(
  Object.entries(CALLER_LIMITS).map(([name, { atMost, description }]) => [
    name,
    upTo(atMost).nullable().default(null).describe(description),
  ]),
) as Record<keyof typeof CALLER_LIMITS, z.ZodDefault<z.ZodNullable<z.ZodInt>>>;

const limits = group({
  body_bytes: z
    .int()
    .min(1024)
    .max(64 * 1024 * 1024)
    .default(8 * 1024 * 1024),
  upload_bytes: z
    .int()
    .min(1024)
    .max(64 * 1024 * 1024 * 1024)
    .default(128 * 1024 * 1024)
    .describe("Total memory for request bodies being received; one organization may use a quarter of it."),
  answer_bytes: z
    .int()
    .min(ANSWER_BYTES_MAX)
    .max(64 * 1024 * 1024 * 1024)
    .default(128 * 1024 * 1024)
    .describe(
      "Total memory for large answers (vectors) being sent; one organization may use a quarter of it, or 64 MiB. Plan for four times as much.",
    ),
  prompt_bytes: z
    .int()
    .min(1024)
    .max(64 * 1024 * 1024 * 1024)
    .nullable()
    .default(null)
    .describe(
      "Total memory for bodies above 64 KiB of requests not yet settled, including 16 bytes for each field and value; one organization may use a quarter of it. Plan for three times as much. null: an eighth of the available memory, at most 512 MiB.",
    ),
  header_timeout_ms: upToMilliseconds(255_000).default(10_000),
  keep_alive_ms: upToMilliseconds(255_000)
    .default(75_000)
    .describe(
      "How long a connection may idle after an answer; set it above the time a proxy in front keeps its own open.",
    ),
  request_timeout_ms: upToMilliseconds(HOUR_MS).default(600_000),
  stream_idle_ms: upToMilliseconds(HOUR_MS).default(120_000),
  max_concurrent: upTo(1_000_000)
    .default(4096)
    .describe(
      "The maximum number of requests not yet settled, in one process; those whose client has disconnected count.",
    ),
  organization_share_percent: upTo(100)
    .default(50)
    .describe("The share of max_concurrent that one organization may use while another one is turned away."),
  answer_timeout_ms: upToMilliseconds(HOUR_MS)
    .default(290_000)
    .describe("A call that is not streamed ends within this time; many clients give up after 300 s."),
  first_part_wait_ms: upToMilliseconds(HOUR_MS)
    .default(65_000)
    .describe("How long a stream's headers wait for the first part of the answer."),
  drain_delay_ms: z
    .int()
    .min(0)
    .max(300_000)
    .default(0)
    .describe(
      "At shutdown: how long to keep serving with /readyz off, before the port closes, so that a load balancer stops sending requests.",
    ),
  stop_grace_ms: upToMilliseconds(HOUR_MS)
    .default(30_000)
    .describe("At shutdown: how long running answers may take to finish."),
  ...callerLimits,
});

const idempotency = durations({ body_retention: "24h", tombstone_retention: "30d", attach_wait: "60s" });

const DOLLARS = 'must be whole US dollars in quotes, like "5"';
const dollars = z
  .string(DOLLARS)
  .regex(/^[1-9]\d{0,6}$/, { error: DOLLARS, abort: true })
  .meta({ examples: ["5"] });

/** Converts a text that `dollars` accepted. */
const nanoOf = (wholeDollars: string): NanoUsd => nanoUsd(BigInt(wholeDollars) * NANO_PER_USD);

const payments = z
  .strictObject({
    driver: z
      .enum(["stripe", "manual", "test"])
      .optional()
      .describe(
        "How credits are paid for. stripe: Checkout; manual: the operator confirms each payment; test: simulated payments " +
          "on the gateway's own page. Default: stripe if its secrets are set, else test if the gateway signs " +
          "its own demo releases, else manual.",
      ),
    stripe_secret_key: nonEmpty
      .regex(/^(sk|rk)_\S+$/, "must be a Stripe secret or restricted key (sk_… or rk_…)")
      .optional()
      .describe("Write it as ${NAME}, or set STRIPE_SECRET_KEY."),
    stripe_webhook_secret: nonEmpty
      .regex(/^whsec_\S+$/, "must be the signing secret of the webhook endpoint (whsec_…)")
      .optional()
      .describe("Write it as ${NAME}, or set STRIPE_WEBHOOK_SECRET."),
    stripe_api_url: webUrl.optional().describe("Another server with Stripe's API; for tests."),
    minimum_usd: dollars.default("5"),
    maximum_usd: dollars.default("10000"),
  })
  .refine(
    (value) => (value.stripe_secret_key === undefined) === (value.stripe_webhook_secret === undefined),
    {
      path: ["stripe_webhook_secret"],
      message: "stripe_secret_key and stripe_webhook_secret must be set together",
    },
  )
  .refine((value) => value.driver !== "stripe" || value.stripe_secret_key !== undefined, {
    path: ["stripe_secret_key"],
    message: "is required for the driver stripe",
  })
  .refine((value) => Number(value.minimum_usd) <= Number(value.maximum_usd), {
    path: ["maximum_usd"],
    message: "must not be below minimum_usd",
  })
  .transform(
    ({ driver, stripe_secret_key: secretKey, stripe_webhook_secret: webhookSecret, ...written }) => ({
      driver: driver ?? null,
      /** Never null for `stripe`. */
      stripe:
        secretKey === undefined || webhookSecret === undefined
          ? null
          : { secretKey, webhookSecret, apiUrl: written.stripe_api_url ?? null },
      minimum: nanoOf(written.minimum_usd),
      maximum: nanoOf(written.maximum_usd),
    }),
  );

const alerts = group({
  private_targets: z
    .boolean()
    .default(false)
    .describe("Allow alerts to http:// addresses and to addresses of private networks or of this machine."),
});

const log = group({
  level: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  content: z.literal("never").default("never").describe("Prompts and answers are never logged."),
});

const signIn = group({
  oidc: z
    .array(
      z.strictObject({
        id: z.string().regex(/^[a-z0-9_-]{1,32}$/, "must be 1 to 32 of a-z, 0-9, '_', '-'"),
        name: nonEmpty,
        discovery_url: webUrl.describe("Ends with /.well-known/openid-configuration."),
        client_id: nonEmpty,
        client_secret: nonEmpty.describe("Write it as ${NAME}, so that it stays out of the file."),
      }),
    )
    .default([])
    .describe("Company sign-in, for invited people.")
    .transform((list) => list.map(inCode)),
  per_minute: upTo(10_000).default(10).describe("Sign-in attempts per minute and address."),
});

const settingsOf = (kinds: readonly ProviderKind[]) =>
  group({
    listen: listen.prefault({}),
    server: server.prefault({}),
    public_url: webUrl
      .refine((url) => !/\/v1\/*$/.test(url), "must not end in /v1, which clients add themselves")
      .optional()
      .describe("Where clients reach the gateway, without /v1. Used in links.")
      .transform(withoutSlash),
    data_dir: nonEmpty.default("./data"),
    database_url: nonEmpty
      .regex(/^postgres(ql)?:\/\//, "must begin with postgres://")
      .optional()
      .describe("Leave it out for the embedded SQLite store.")
      .transform(nullIfAbsent),
    limits: limits.prefault({}),
    headers: group({
      headroom: z.boolean().default(true).describe("Report the remaining balance in responses."),
      rate_limit: z
        .boolean()
        .default(false)
        .describe("Also report the remaining rate limits as the IETF's RateLimit fields."),
    }).prefault({}),
    cors: group({
      origins: z
        .array(nonEmpty.refine(isOrigin, "must be an origin like https://app.example.com"))
        .default([]),
    }).prefault({}),
    trust: group({
      release_keys: z
        .array(nonEmpty)
        .min(1, "needs at least one public key file")
        .describe("Public JWK files; only releases signed by these are accepted."),
    })
      .optional()
      .transform(nullIfAbsent),
    outbound: outbound.prefault({}),
    providers: providers(kinds).prefault([{ name: "simulator", kind: "simulator" }]),
    idempotency: idempotency.prefault({}),
    payments: payments.prefault({}),
    alerts: alerts.prefault({}),
    mail: mail.optional().transform(nullIfAbsent),
    log: log.prefault({}),
    tracing: tracing.prefault({}),
    sign_in: signIn.prefault({}),
  });

export type Settings = z.output<ReturnType<typeof settingsOf>>;

const built = new WeakMap<readonly ProviderKind[], ReturnType<typeof settingsOf>>();

/**
 * Returns the settings of a gateway that knows these kinds of providers. Built once for each list of kinds: that takes
 * a fifth of the work of a start.
 */
export function settingsSchema(kinds: readonly ProviderKind[]): ReturnType<typeof settingsOf> {
  const known = built.get(kinds) ?? settingsOf(kinds);
  built.set(kinds, known);
  return known;
}
