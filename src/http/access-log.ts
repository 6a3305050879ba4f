// One compact line per request, without prompts, keys or bodies (S36); and the counters of what was answered. Calls that were
// answered have their line whatever comes; probes that are answered well have none, which would be most lines of a quiet
// gateway; all others together have a bounded number (`line-quota.ts`).
import { printTime } from "../domain/print.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Metrics } from "../lib/metrics.ts";
import type { HttpContext } from "./context.ts";
import { LineQuota } from "./line-quota.ts";

export class AccessLog {
  /** Whether a line is written of each request, with its address. */
  readonly on: boolean;
  private readonly quota = new LineQuota((leftOut) =>
    this.log.warn(
      { left_out: leftOut },
      "more requests arrived than the log has lines for; those left out are counted by status",
    ),
  );

  constructor(
    private readonly log: Pick<Log, "isLevelEnabled" | "lines" | "warn">,
    private readonly clock: Clock,
    private readonly metrics: Pick<Metrics, "responded" | "unkeyedRetry">,
  ) {
    this.on = log.isLevelEnabled("info");
  }

  note(
    response: Response,
    arrived: Pick<HttpContext, "request" | "requestId" | "address"> & { arrivedMs: number },
    surface: string | null,
  ): void {
    const { request, requestId, arrivedMs } = arrived;
    this.metrics.responded(response.status, surface);
    const again = isUnkeyedRetry(request);
    if (again) this.metrics.unkeyedRetry();
    if (!this.on) return;
    const nowMs = this.clock.nowMs();
    const called = surface !== null && response.status < 400;
    const path = pathOf(request.url);
    if (
      !called &&
      ((response.status === 200 && PROBES.has(path)) || !this.quota.takes(response.status, nowMs))
    )
      return;
    // As the log's own lines are, printed here: all of these figures are known, and nothing among them is to be hidden.
    this.log.lines.write(
      `{"level":30,"time":"${printTime(nowMs)}","id":"${requestId}","method":"${request.method}"` +
        `,"path":${JSON.stringify(path)},"status":${response.status}` +
        `,"address":${JSON.stringify(arrived.address)},"ms":${Math.round(this.clock.monotonicMs() - arrivedMs)}${again ? ',"unkeyed_retry":true' : ""}}\n`,
    );
  }

  /** Tells what was left out to the end. */
  close(): void {
    this.quota.close();
  }
}

/** What balancers, containers and monitors ask every few seconds. */
const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

const PATH_LENGTH_MAX = 100;

/** Without the query, which may hold what is nobody's business. */
function pathOf(url: string): string {
  const start = url.indexOf("/", 8);
  const path = url.slice(start, start + PATH_LENGTH_MAX);
  const mark = path.indexOf("?");
  return mark === -1 ? path : path.slice(0, mark);
}

/** Official clients count their retries in a header; without a key each of them is a new paid request. */
function isUnkeyedRetry({ headers }: Request): boolean {
  const count = headers.get("x-stainless-retry-count");
  return count !== null && count !== "0" && !headers.has("idempotency-key");
}
