// One compact line per request, without prompts, keys or bodies (S36); and the counters of what was answered.
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Metrics } from "../lib/metrics.ts";

export class AccessLog {
  private readonly on: boolean;
  private readonly log: Log;

  constructor(
    log: Log,
    private readonly clock: Clock,
    private readonly metrics: Pick<Metrics, "responded" | "unkeyedRetry">,
  ) {
    this.on = log.isLevelEnabled("info");
    // Its lines hold nothing to hide, and looking for it would cost more than the line.
    this.log = log.child({}, { redact: [] });
  }

  note(
    response: Response,
    { request, requestId, receivedAtMs }: { request: Request; requestId: string; receivedAtMs: number },
    addressOf: () => string | null,
  ): void {
    this.metrics.responded(response.status);
    if (isUnkeyedRetry(request)) this.metrics.unkeyedRetry();
    if (!this.on) return;
    const url = request.url;
    const start = url.indexOf("/", 8);
    this.log.info({
      id: requestId,
      method: request.method,
      path: url.slice(start, start + 100).split("?", 1)[0],
      status: response.status,
      address: addressOf(),
      ms: this.clock.nowMs() - receivedAtMs,
    });
  }
}

/** Official clients count their retries in a header; without a key each of them is a new paid request. */
function isUnkeyedRetry({ headers }: Request): boolean {
  const count = headers.get("x-stainless-retry-count");
  return count !== null && count !== "0" && !headers.has("idempotency-key");
}
