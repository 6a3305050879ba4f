// One compact line per request, without prompts, keys or bodies (S36).
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";

export class AccessLog {
  private readonly on: boolean;

  constructor(
    private readonly log: Log,
    private readonly clock: Clock,
  ) {
    this.on = log.isLevelEnabled("info");
  }

  note(request: Request, response: Response, about: { requestId: string; receivedAtMs: number }): void {
    if (!this.on) return;
    const url = request.url;
    const start = url.indexOf("/", 8);
    this.log.info({
      id: about.requestId,
      method: request.method,
      path: url.slice(start, start + 100).split("?", 1)[0],
      status: response.status,
      ms: this.clock.nowMs() - about.receivedAtMs,
    });
  }
}
