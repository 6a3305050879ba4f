// Cross-origin requests: off unless `cors.origins` names origins; then `/v1` answers preflights without a key (wire.md §6).
import { CREDENTIAL_HEADERS, type ShownIn } from "../domain/credential.ts";

/**
 * Headers that clients send in a browser, whether we read them or not, in addition to those that carry a key. Firefox and Safari
 * also ask for `user-agent`, which most SDKs set; one missing name fails the whole call.
 */
const ALLOWED_HEADERS = [
  "content-type, idempotency-key, last-event-id, user-agent, traceparent, tracestate, x-client-request-id",
  "openai-organization, openai-project, openai-beta",
  "anthropic-version, anthropic-beta, anthropic-dangerous-direct-browser-access",
  "x-stainless-lang, x-stainless-package-version, x-stainless-os, x-stainless-arch, x-stainless-runtime, x-stainless-runtime-version",
  "x-stainless-retry-count, x-stainless-timeout, x-stainless-helper, x-stainless-helper-method, x-stainless-poll-helper",
  "x-stainless-custom-poll-interval",
].join(", ");
const EXPOSED_HEADERS =
  "x-request-id, request-id, x-gw-idempotency-key, x-gw-hold-usd, x-gw-credits-available-usd, x-gw-key-limit-remaining-usd, x-gw-max-output-tokens, x-gw-ignored-parameters, " +
  "idempotent-replayed, x-should-retry, retry-after, retry-after-ms, x-ratelimit-limit-requests, x-ratelimit-remaining-requests, x-ratelimit-reset-requests, x-ratelimit-limit-tokens, x-ratelimit-remaining-tokens, x-ratelimit-reset-tokens, ratelimit, ratelimit-policy";

export class Cors {
  private readonly allowedHeaders: string;

  constructor(
    private readonly origins: readonly string[],
    formats: readonly { credentialHeader: ShownIn }[],
  ) {
    const shown = new Set([
      "authorization",
      ...formats.flatMap(({ credentialHeader: shown }) =>
        shown === "either" ? CREDENTIAL_HEADERS : [shown],
      ),
    ]);
    this.allowedHeaders = [...shown, ALLOWED_HEADERS].join(", ");
  }

  /** Whether this OPTIONS is a browser's preflight for a page of an allowed origin. */
  isPreflight(request: Request): boolean {
    return request.headers.has("access-control-request-method") && this.allows(request);
  }

  /** The answer to OPTIONS: 204 with `Allow`, and the grants for an allowed origin. */
  preflight(request: Request, about: { requestId: string; allowed: string[] }): Response {
    const headers = new Headers({ "x-request-id": about.requestId, allow: about.allowed.join(", ") });
    if (this.allows(request)) {
      headers.set("access-control-allow-methods", about.allowed.join(", "));
      headers.set("access-control-allow-headers", this.allowedHeaders);
      headers.set("access-control-max-age", "600");
    }
    return new Response(null, { status: 204, headers });
  }

  /** Grants an allowed origin access to an answer, and tells caches that the grant depends on the origin. */
  expose(request: Request, response: Response): void {
    if (!this.isOpenPlace(request)) return;
    response.headers.append("vary", "origin");
    if (!this.allows(request)) return;
    response.headers.set("access-control-allow-origin", request.headers.get("origin") ?? "");
    response.headers.set("access-control-expose-headers", EXPOSED_HEADERS);
  }

  private allows(request: Request): boolean {
    const origin = request.headers.get("origin");
    return origin !== null && this.origins.includes(origin) && this.isOpenPlace(request);
  }

  /** Whether any origin is admitted at this path. */
  private isOpenPlace(request: Request): boolean {
    if (this.origins.length === 0) return false;
    // An odd Host makes the URL invalid: the door refuses it, and nothing is granted.
    return URL.parse(request.url)?.pathname.startsWith("/v1/") ?? false;
  }
}
