// What the checks judge: the history, the simulator's bill, the store's rows, and the final state from the operator
// API; with the look-ups that several checks share.
import type { Fairness } from "./fairness.ts";
import type { Exchange, History, KeyFacts } from "./history.ts";
import { touches } from "./history.ts";
import type { Plan } from "./plan.ts";
import type { BilledCall } from "./simulator-process.ts";
import type { RequestRow } from "./store.ts";
import { KEY_CONCURRENT, RATED } from "./world.ts";

export interface Violation {
  /** The invariant, in a few words. */
  broken: string;
  /** What is needed to investigate it: ids, times, both numbers. */
  facts: Record<string, unknown>;
}

export interface AuditJson {
  ok: boolean;
  checked: Record<string, number>;
  violations: unknown[];
}

/** The final figures of a customer, as `GET /credits` prints them. */
export type BalanceJson = Record<string, string | boolean>;

export interface Found {
  plan: Plan;
  history: History;
  bill: BilledCall[];
  rows: RequestRow[];
  /** The output of `./tollgate ledger audit --json`, after the healing. */
  audit: AuditJson;
  /** By customer of the plan. */
  balances: Map<number, BalanceJson>;
  /** Rounds of a victim's calls beside a flood; empty if they were not requested. */
  fairness: Fairness[];
}

export type Check = (evidence: Evidence) => Violation[];

/** The longest a commit takes to be answered. */
const ANSWERED_WITHIN_MS = 1_000;

const NEVER_MS = Number.POSITIVE_INFINITY;

export class Evidence {
  readonly rows: ReadonlyMap<string, RequestRow>;
  readonly calls: ReadonlyMap<string, BilledCall[]>;
  /** Exchanges under one caller's key of one API key, without misuses, in the order of sending. */
  readonly claims: ReadonlyMap<string, Exchange[]>;
  /** When each planned request was first sent. */
  private readonly firstSent = new Map<number, number>();

  constructor(readonly found: Found) {
    this.rows = new Map(found.rows.map((row) => [row.requestId, row]));
    this.calls = Map.groupBy(found.bill, ({ request_id }) => request_id ?? "none");
    const sent = [...found.history.exchanges].sort((a, b) => a.sentAtMs - b.sentAtMs);
    for (const { request, sentAtMs } of sent)
      if (!this.firstSent.has(request.id)) this.firstSent.set(request.id, sentAtMs);
    const keyed = sent.filter(({ request, kind }) => request.idempotencyKey !== null && kind !== "misuse");
    this.claims = Map.groupBy(keyed, ({ request }) => `${request.key} ${request.idempotencyKey}`);
  }

  key(exchange: Exchange): KeyFacts {
    const facts = this.found.history.keys.get(exchange.request.key);
    if (facts === undefined) throw new Error(`an exchange under the unknown key ${exchange.request.key}`);
    return facts;
  }

  row(exchange: Exchange): RequestRow | undefined {
    return this.rows.get(exchange.headers["x-request-id"] ?? "");
  }

  /** True if a gateway was down at any time between the first sending of this request and the end of the exchange. */
  wasDown(exchange: Exchange): boolean {
    return touches(this.found.history.downs, this.since(exchange), exchange.endedAtMs);
  }

  /** The same for a gateway, a provider or a store that was paused: timers fire late, and timeouts expire. */
  stoodStill(exchange: Exchange): boolean {
    return touches(this.found.history.pauses, this.since(exchange), exchange.endedAtMs);
  }

  /** When the gateway of this exchange died during it; its client notices later. Infinity if it did not. */
  diedAtMs({ gateway, sentAtMs, endedAtMs }: Exchange): number {
    const deaths = this.found.history.downs.filter(
      (down) => down.gateway === gateway && down.startMs >= sentAtMs && down.startMs <= endedAtMs,
    );
    return Math.min(...deaths.map(({ startMs }) => startMs));
  }

  /** True if its key may have been revoked, paused or expired at some time of this exchange. */
  mayBeShut(exchange: Exchange): boolean {
    const { revoked, expiresAtMs, pauses } = this.key(exchange);
    const overAtMs = Math.min(revoked?.askedMs ?? NEVER_MS, expiresAtMs ?? NEVER_MS);
    return overAtMs <= exchange.endedAtMs || touches(pauses, exchange.sentAtMs, exchange.endedAtMs);
  }

  /** True if a limit may have refused this exchange: its key has a rate limit, or as many calls open as it may. */
  limited(exchange: Exchange): boolean {
    return exchange.request.key === RATED.key || this.crowded(exchange, KEY_CONCURRENT);
  }

  private crowded({ request, sentAtMs, endedAtMs }: Exchange, most: number): boolean {
    const keyId = this.found.history.keys.get(request.key)?.keyId;
    const overlaps = (fromMs: number, toMs: number | null): boolean =>
      fromMs <= endedAtMs && (toMs ?? Number.POSITIVE_INFINITY) >= sentAtMs;
    const rows = this.found.rows.filter(
      (row) => row.keyId === keyId && overlaps(row.admittedAtMs, row.endedAtMs),
    );
    const known = new Set(rows.map(({ requestId }) => requestId));
    const others = this.found.history.exchanges.filter(
      (other) =>
        other.request.key === request.key &&
        overlaps(other.sentAtMs, this.servedUntil(other)) &&
        !known.has(other.headers["x-request-id"] ?? ""),
    );
    return rows.length + others.length >= most;
  }

  /**
   * A call whose client has left runs until the store has answered: first one outage of the store must end, and maybe
   * another.
   */
  private servedUntil({ ending, endedAtMs }: Exchange): number {
    let untilMs = endedAtMs;
    if (ending !== "left") return untilMs;
    // In the order in which they began.
    for (const { gateway, startMs, endMs } of this.found.history.pauses) {
      const overMs = endMs ?? Number.POSITIVE_INFINITY;
      if (gateway === null && startMs - ANSWERED_WITHIN_MS <= untilMs && untilMs <= overMs) untilMs = overMs;
    }
    return untilMs;
  }

  private since(exchange: Exchange): number {
    return this.firstSent.get(exchange.request.id) ?? exchange.sentAtMs;
  }
}

/** The facts of an exchange that help to find it in the logs. */
export const factsOf = (exchange: Exchange): Record<string, unknown> => ({
  request: exchange.headers["x-request-id"] ?? null,
  planned: exchange.request,
  kind: exchange.kind,
  healed: exchange.healed,
  sentAtMs: exchange.sentAtMs,
  endedAtMs: exchange.endedAtMs,
  status: exchange.status,
  ending: exchange.ending,
  body:
    exchange.body.length <= 600
      ? exchange.body
      : `${exchange.body.slice(0, 200)} … ${exchange.body.slice(-400)}`,
});

/** `error.code` of an answer; null if it is not an error. */
export function errorCode({ body }: Exchange): string | null {
  return /"error":\{(?:"(?:[^"\\]|\\.)*"|[^{}"])*?"code":"([a-z_]+)"/.exec(body)?.[1] ?? null;
}

export interface ReceivedReceipt {
  requestId: string;
  inputTokens: number;
  outputTokens: number;
  /** As printed; never converted to a float. */
  chargeUsd: string;
}

/** Every final `gateway` object that the client received, whether the answer was whole or not. */
export function receiptsIn({ body }: Exchange): ReceivedReceipt[] {
  const pattern =
    /"gateway":\{"request_id":"(req_[^"]+)".*?"cost":\{"input_tokens":(\d+),"output_tokens":(\d+),"customer_charge_usd":([\d.eE+-]+)[,}]/g;
  return [...body.matchAll(pattern)].map(([, requestId = "", input, output, chargeUsd = ""]) => ({
    requestId,
    inputTokens: Number(input),
    outputTokens: Number(output),
    chargeUsd,
  }));
}
