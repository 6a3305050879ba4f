// The operator of the run, on the API of `/admin/v1`. Like a real operator it repeats a call until the outcome is
// known, since the gateway may die during it; it reads its token anew each time, because every start makes another
// one.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { OPERATOR_FILE } from "../src/domain/data-files.ts";
import type { ClientBalancer } from "./client-balancer.ts";
import type { GatewayProcess } from "./gateway-process.ts";
import type { Change } from "./history.ts";

const AGAIN_AFTER_MS = 30;
/** Longer than any pause: an abandoned call would still be carried out when its gateway wakes. */
const ANSWERED_WITHIN_MS = 30_000;
const KNOWN_WITHIN_MS = 90_000;

export interface Answered {
  status: number;
  json: Record<string, unknown>;
}

export class Operator {
  private calls = 0;

  /** Any gateway will do; they are used in turn. */
  constructor(
    private readonly balancer: ClientBalancer,
    /** A person's own management key; null uses the token of the gateway's `operator.json`. */
    private readonly key: string | null = null,
  ) {}

  /** Repeats the call while the answer is missing, 5xx, or the 401 of a token that has just been replaced. */
  async call(method: string, path: string, body?: unknown): Promise<Answered> {
    const untilMs = performance.now() + KNOWN_WITHIN_MS;
    while (performance.now() < untilMs) {
      this.calls += 1;
      const answered = await this.once(this.balancer.from(this.calls), { method, path, body });
      if (answered !== null && answered.status < 500 && answered.status !== 401) return answered;
      await Bun.sleep(AGAIN_AFTER_MS);
    }
    throw new Error(`${method} ${path} was not answered within ${KNOWN_WITHIN_MS} ms`);
  }

  /** Like `call`, but throws on a refusal, and records the period in which the call may have taken effect. */
  async change(
    change: Change,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Record<string, unknown>> {
    const { status, json } = await this.call(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(json)}`);
    change.ackedMs = Date.now();
    return json;
  }

  private async once(
    { url, files }: GatewayProcess,
    call: { method: string; path: string; body?: unknown },
  ): Promise<Answered | null> {
    try {
      const token = this.key ?? tokenIn(files.dataDir);
      const answer = await fetch(`${url}/admin/v1${call.path}`, {
        method: call.method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
        signal: AbortSignal.timeout(ANSWERED_WITHIN_MS),
      });
      return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
    } catch {
      return null; // no connection, or a broken one: the outcome is unknown
    }
  }
}

const tokenIn = (dataDir: string): string =>
  (JSON.parse(readFileSync(join(dataDir, OPERATOR_FILE), "utf8")) as { token: string }).token;

export const asked = (): Change => ({ askedMs: Date.now(), ackedMs: null });
