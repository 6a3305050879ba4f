// Sends spans to a collector, in batches and off the request path: one export at a time, a queue of fixed length, a
// time limit per export. A collector that hangs, refuses or is away costs spans, which are counted, and nothing else.
import type { Clock } from "../lib/clock.ts";
import type { Repeating } from "../lib/every.ts";
import { inflated } from "../lib/inflated.ts";
import type { Jobs } from "../lib/jobs.ts";
import { messageOf } from "../domain/error-message.ts";
import { printExport, type Source, type Span } from "./otlp.ts";
import { readAnswer, type Taken } from "./otlp-answer.ts";

/**
 * `queue_full`: spans came faster than they were sent · `refused`: the collector received the batch and refused it ·
 * `unreachable`: it was away or too busy, time after time · `rejected`: it accepted the batch, but rejected these ·
 * `stopped`: the gateway ended.
 */
export const SPAN_LOSSES = ["queue_full", "refused", "unreachable", "rejected", "stopped"] as const;
export type SpanLoss = (typeof SPAN_LOSSES)[number];

export interface ExporterPorts {
  url: string;
  headers: Record<string, string>;
  timeoutMs: number;
  intervalMs: number;
  source: Source;
  clock: Pick<Clock, "monotonicMs">;
  jobs: Jobs;
  exported(spans: number): void;
  dropped(reason: SpanLoss, spans: number): void;
  /** Called with the error when exports begin to fail, and with null when they work again. */
  turned(trouble: string | null): void;
  /**
   * Called when the collector accepted batches but rejected this many of their spans, with the last reason that it
   * gave, if any: at once the first time, then at most every ten minutes, with all that were rejected since.
   */
  leftOut(spans: number, reason: string | null): void;
}

export const QUEUE_SPANS = 4096;
const BATCH_SPANS = 512;
const TRIES = 5;
const RETRY_FIRST_MS = 1_000;
const RETRY_AT_MOST_MS = 30_000;
const LAST_EXPORT_MS = 2_000;
const LEFT_OUT_TOLD_EVERY_MS = 600_000;
const EXPORT_ANSWER_BYTES_MAX = 64 * 1024;
/** The statuses that OTLP allows to be retried. */
const RETRYABLE = new Set([429, 502, 503, 504]);

interface Batch {
  spans: Span[];
  tries: number;
}

type Sent = ({ kind: "taken" } & Taken) | { kind: "no" | "later"; why: string; afterMs?: number };

export class SpanExporter {
  private queue: Span[] = [];
  private batch: Batch | null = null;
  private notBeforeMs = 0;
  private well = true;
  private leftOut = 0;
  private leftOutToldMs = Number.NEGATIVE_INFINITY;
  private stopped = false;
  private readonly repeating: Repeating;

  constructor(private readonly on: ExporterPorts) {
    this.repeating = on.jobs.every("trace_export", on.intervalMs, () => this.run());
  }

  /** Spans that wait to be sent, including those of a batch in flight. */
  get waiting(): number {
    return this.queue.length + (this.batch?.spans.length ?? 0);
  }

  /** Adds all spans of one request, or none of them. */
  add(spans: readonly Span[]): void {
    if (this.stopped || this.waiting + spans.length > QUEUE_SPANS) {
      this.on.dropped(this.stopped ? "stopped" : "queue_full", spans.length);
      return;
    }
    this.queue.push(...spans);
    const due = this.queue.length >= BATCH_SPANS && this.batch === null;
    if (due && this.on.clock.monotonicMs() >= this.notBeforeMs) void this.repeating.now();
  }

  /** Tries once more to send the waiting spans, for a short time. */
  async stop(): Promise<void> {
    this.stopped = true;
    const untilMs = this.on.clock.monotonicMs() + LAST_EXPORT_MS;
    const stopping = this.repeating.stop(); // an export in flight ends by its own timeout: not awaited
    await Promise.race([stopping, Bun.sleep(LAST_EXPORT_MS)]);
    while (this.waiting > 0 && this.well && this.on.clock.monotonicMs() < untilMs)
      if (!(await this.sendNext(Math.max(1, untilMs - this.on.clock.monotonicMs())))) break;
    if (this.waiting > 0) this.on.dropped("stopped", this.waiting);
    this.queue = [];
    this.batch = null;
  }

  /** Sends until nothing waits, or the collector does not accept it. */
  private async run(): Promise<void> {
    if (this.on.clock.monotonicMs() < this.notBeforeMs) return;
    while (this.waiting > 0 && !this.stopped) if (!(await this.sendNext(this.on.timeoutMs))) return;
  }

  /** Sends one batch; returns false if the next one should wait. */
  private async sendNext(timeoutMs: number): Promise<boolean> {
    this.batch ??= { spans: this.queue.splice(0, BATCH_SPANS), tries: 0 };
    const { batch } = this;
    const sent = await this.send(batch.spans, timeoutMs);
    if (this.batch !== batch) return false; // the gateway ended meanwhile, and has counted it
    if (sent.kind === "taken") {
      this.batch = null;
      this.turn(null);
      this.notBeforeMs = 0;
      const rejected = Math.min(sent.rejected, batch.spans.length);
      this.on.exported(batch.spans.length - rejected);
      if (rejected > 0) this.leave(rejected, sent.reason);
      return true;
    }
    batch.tries += 1;
    this.turn(sent.why);
    if (sent.kind === "no" || batch.tries >= TRIES) {
      this.batch = null;
      this.on.dropped(sent.kind === "no" ? "refused" : "unreachable", batch.spans.length);
    }
    const pauseMs = Math.max(RETRY_FIRST_MS * 2 ** (batch.tries - 1), sent.afterMs ?? 0);
    this.notBeforeMs = this.on.clock.monotonicMs() + Math.min(pauseMs, RETRY_AT_MOST_MS);
    return false;
  }

  private async send(spans: readonly Span[], timeoutMs: number): Promise<Sent> {
    const { url, headers, source } = this.on;
    try {
      const reply = await fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json", "user-agent": "tollgate" },
        body: printExport(spans, source),
        redirect: "manual",
        decompress: false,
        signal: AbortSignal.timeout(timeoutMs),
      });
      const body = await readAtMost(inflated(reply), EXPORT_ANSWER_BYTES_MAX);
      if (reply.ok) {
        const said = body && readAnswer(reply.headers.get("content-type"), body);
        if (said !== null) return { kind: "taken", ...said };
        return { kind: "no", why: notOtlp(reply) };
      }
      const why = `the collector answered ${reply.status}`;
      if (!RETRYABLE.has(reply.status)) return { kind: "no", why };
      const afterS = Number(reply.headers.get("retry-after") ?? 0);
      return { kind: "later", why, afterMs: Number.isFinite(afterS) ? afterS * 1000 : 0 };
    } catch (error) {
      const late = error instanceof Error && error.name === "TimeoutError";
      return { kind: "later", why: late ? `no answer within ${timeoutMs} ms` : messageOf(error) };
    }
  }

  private leave(spans: number, reason: string | null): void {
    this.on.dropped("rejected", spans);
    this.leftOut += spans;
    const nowMs = this.on.clock.monotonicMs();
    if (nowMs - this.leftOutToldMs < LEFT_OUT_TOLD_EVERY_MS) return;
    this.on.leftOut(this.leftOut, reason);
    this.leftOut = 0;
    this.leftOutToldMs = nowMs;
  }

  private turn(trouble: string | null): void {
    if ((trouble === null) === this.well) return;
    this.well = trouble === null;
    this.on.turned(trouble);
  }
}

/** Returns the body, or null if it exceeds the bound; the rest is not read then. */
async function readAtMost({ body }: Response, bytesMax: number): Promise<Uint8Array | null> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const bytes of body ?? []) {
    size += bytes.byteLength;
    if (size > bytesMax) return null; // leaving the loop cancels the body
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}

/** Mostly a page for people: a login, or another program's port. */
function notOtlp({ status, headers }: Response): string {
  const type =
    /^[\w.+-]{1,40}\/[\w.+-]{1,60}/.exec(headers.get("content-type") ?? "")?.[0] ?? "no content type";
  return `it answered ${status} with ${type}, which is not an OTLP collector's answer: check the endpoint and any proxy before it`;
}
