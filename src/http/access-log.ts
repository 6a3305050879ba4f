// Writes one compact line per request, without prompts, keys or bodies (S36), and counts the answers. Answered calls always get a
// line. Successful probes get none; they would be most lines of a quiet gateway. All other requests share a bounded number of lines
// (`line-quota.ts`).
import { printTime } from "../domain/print.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Metrics } from "../lib/metrics.ts";
import type { HttpContext } from "./context.ts";
import { LineQuota } from "./line-quota.ts";
import { codeOf } from "./reply.ts";

export class AccessLog {
  /** Whether a line is written for each request, with its address. */
  readonly on: boolean;
  private readonly quota = new LineQuota((leftOut) =>
    this.log.warn(
      { left_out: leftOut },
      "more requests arrived than the access log may write lines for; those left out are counted by status",
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
    arrived: Pick<HttpContext, "request" | "requestId" | "address" | "org"> & { arrivedMs: number },
    surface: string | null,
  ): void {
    const { request, requestId, arrivedMs, org } = arrived;
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
    const code = response.status < 400 ? null : codeOf(response);
    // Printed here in the same form as the log's own lines: all of these figures are known, and none needs redaction. What a caller
    // wrote is escaped; an organization is one whose key was proven, and a code is from our own list.
    this.log.lines.write(
      `{"level":30,"time":"${printTime(nowMs)}","id":"${requestId}","method":"${request.method}"` +
        `,"path":${JSON.stringify(path)},"status":${response.status}` +
        `${code === null ? "" : `,"code":"${code}"`}${org === null ? "" : `,"org":"${org}"`}` +
        `,"address":${JSON.stringify(arrived.address)},"ms":${Math.round(this.clock.monotonicMs() - arrivedMs)}${again ? ',"unkeyed_retry":true' : ""}}\n`,
    );
  }

  /** Reports what was left out until the end. */
  close(): void {
    this.quota.close();
  }
}

/** Paths that balancers, containers and monitors ask for every few seconds. */
const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

const PATH_LENGTH_MAX = 100;

/** The path without the query, which may be confidential. */
function pathOf(url: string): string {
  const start = url.indexOf("/", 8);
  const path = url.slice(start, start + PATH_LENGTH_MAX);
  const mark = path.indexOf("?");
  return mark === -1 ? path : path.slice(0, mark);
}

/** Official clients count their retries in a header; without a key each retry is a new paid request. */
function isUnkeyedRetry({ headers }: Request): boolean {
  const count = headers.get("x-stainless-retry-count");
  return count !== null && count !== "0" && !headers.has("idempotency-key");
}
