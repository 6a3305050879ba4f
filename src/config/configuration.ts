// The checked configuration as the rooms use it: absolute paths, milliseconds, null where something is off.
// interfaces.md §3.
import { resolve } from "node:path";
import { NANO_PER_USD, type NanoUsd, nanoUsd } from "../domain/money.ts";
import type { ProviderKind } from "../providers/kind.ts";
import { parseDurationMs } from "./duration.ts";
import type { Settings } from "./settings.ts";

export interface ProviderConfig {
  name: string;
  kind: ProviderKind;
  /** Null only where the kind runs one inside this process. */
  baseUrl: string | null;
  /** What the kind's own settings say; it alone reads them. */
  own: object;
  health: { probe: string | null; intervalMs: number; openAfterFailures: number; halfOpenAfterMs: number };
  timeouts: { connectMs: number; firstTokenMs: number; idleMs: number; totalMs: number };
}

export interface Config {
  /** The file that was read, absolute; null when there was none. */
  file: string | null;
  listen: { host: string; port: number };
  /** Addresses and networks of the reverse proxies in front. */
  server: { trustedProxies: string[] };
  /** Without a slash at the end. */
  publicUrl: string | null;
  dataDir: string;
  databaseUrl: string | null;
  limits: {
    bodyBytes: number;
    uploadBytes: number;
    headerTimeoutMs: number;
    requestTimeoutMs: number;
    streamIdleMs: number;
    maxConcurrent: number;
    answerTimeoutMs: number;
    firstPartWaitMs: number;
    stopGraceMs: number;
    keyRequestsPerMinute: number | null;
    keyConcurrent: number | null;
    organizationConcurrent: number | null;
  };
  headers: { headroom: boolean };
  cors: { origins: string[] };
  /** Absolute paths of public keys; null = the gateway signs its own demo releases. */
  trust: { releaseKeys: string[] } | null;
  providers: ProviderConfig[];
  idempotency: { bodyRetentionMs: number; tombstoneRetentionMs: number; attachWaitMs: number };
  payments: PaymentsConfig;
  alerts: { privateTargets: boolean };
  log: { level: Settings["log"]["level"]; content: "never" };
  /** Of people, on the dashboard. */
  signIn: {
    oidc: { id: string; name: string; discoveryUrl: string; clientId: string; clientSecret: string }[];
    perMinute: number;
  };
}

interface PaymentsConfig {
  driver: "stripe" | "manual" | "test";
  /** Never null for `stripe`. */
  stripe: { secretKey: string; webhookSecret: string; apiUrl: string | null } | null;
  minimum: NanoUsd;
  maximum: NanoUsd;
}

/** Settings that passed the schema → configuration; paths in the file count from the file's own directory. */
export function toConfig(
  settings: Settings,
  at: { file: string | null; fileDir: string; dataDir: string },
): Config {
  const { listen, limits, headers, cors, trust, idempotency, log } = settings;
  return {
    file: at.file,
    listen,
    server: { trustedProxies: settings.server.trusted_proxies },
    publicUrl: settings.public_url?.replace(/\/+$/, "") ?? null,
    dataDir: at.dataDir,
    databaseUrl: settings.database_url ?? null,
    limits: {
      bodyBytes: limits.body_bytes,
      uploadBytes: limits.upload_bytes,
      headerTimeoutMs: limits.header_timeout_ms,
      requestTimeoutMs: limits.request_timeout_ms,
      streamIdleMs: limits.stream_idle_ms,
      maxConcurrent: limits.max_concurrent,
      answerTimeoutMs: limits.answer_timeout_ms,
      firstPartWaitMs: limits.first_part_wait_ms,
      stopGraceMs: limits.stop_grace_ms,
      keyRequestsPerMinute: limits.key_requests_per_minute,
      keyConcurrent: limits.key_concurrent,
      organizationConcurrent: limits.organization_concurrent,
    },
    headers,
    cors,
    trust:
      trust === undefined ? null : { releaseKeys: trust.release_keys.map((key) => resolve(at.fileDir, key)) },
    providers: settings.providers.map(toProvider),
    idempotency: {
      bodyRetentionMs: durationMs(idempotency.body_retention),
      tombstoneRetentionMs: durationMs(idempotency.tombstone_retention),
      attachWaitMs: durationMs(idempotency.attach_wait),
    },
    payments: toPayments(settings),
    alerts: { privateTargets: settings.alerts.private_targets },
    log,
    signIn: {
      oidc: settings.sign_in.oidc.map((provider) => ({
        id: provider.id,
        name: provider.name,
        discoveryUrl: provider.discovery_url,
        clientId: provider.client_id,
        clientSecret: provider.client_secret,
      })),
      perMinute: settings.sign_in.per_minute,
    },
  };
}

function toPayments({ payments, trust }: Settings): PaymentsConfig {
  const { stripe_secret_key: secretKey, stripe_webhook_secret: webhookSecret } = payments;
  const stripe =
    secretKey === undefined || webhookSecret === undefined
      ? null
      : { secretKey, webhookSecret, apiUrl: payments.stripe_api_url ?? null };
  const usual = stripe !== null ? "stripe" : trust === undefined ? "test" : "manual";
  const usd = (text: string): NanoUsd => nanoUsd(BigInt(text) * NANO_PER_USD);
  return {
    driver: payments.driver ?? usual,
    stripe,
    minimum: usd(payments.minimum_usd),
    maximum: usd(payments.maximum_usd),
  };
}

const toProvider = ({ health, timeouts, ...provider }: Settings["providers"][number]): ProviderConfig => ({
  ...provider,
  baseUrl: provider.baseUrl?.replace(/\/+$/, "") ?? null,
  health: {
    probe: health.probe,
    intervalMs: health.interval_ms,
    openAfterFailures: health.open_after_failures,
    halfOpenAfterMs: health.half_open_after_ms,
  },
  timeouts: {
    connectMs: timeouts.connect_ms,
    firstTokenMs: timeouts.first_token_ms,
    idleMs: timeouts.idle_ms,
    totalMs: timeouts.total_ms,
  },
});

function durationMs(text: string): number {
  const ms = parseDurationMs(text);
  if (ms === null) throw new Error(`duration ${text} passed the schema but cannot be read`);
  return ms;
}
