// Returns the settings that may be shown to others, named one by one, so that a new secret is hidden unless somebody
// adds it.
import type { Config } from "./configuration.ts";

export const shownSettings = (config: Config): Record<string, unknown> => ({
  listen: config.listen,
  trusted_proxies: config.server.trustedProxies.length,
  public_url: config.publicUrl !== null,
  limits: config.limits,
  headroom: config.headers.headroom,
  cors_origins: config.cors.origins.length,
  release_keys: config.trust?.releaseKeys.length ?? null,
  outbound: { proxy: config.outbound.proxy !== null, no_proxy: config.outbound.proxy?.except.length ?? 0 },
  providers: config.providers.map(({ name, kind, own, health, timeouts }) => ({
    name,
    kind: kind.name,
    ...kind.shown(own),
    health,
    timeouts,
  })),
  idempotency: config.idempotency,
  payments: { driver: config.payments.driver },
  alerts: config.alerts,
  mail: config.mail && { security: config.mail.security, signs_in: config.mail.signIn !== null },
  log: config.log,
  tracing: config.tracing && { sampling: config.tracing.sampling },
  sign_in: { oidc: config.signIn.oidc.length, per_minute: config.signIn.perMinute },
});
