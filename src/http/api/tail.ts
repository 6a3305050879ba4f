// The live tail of the activity page: server-sent events, a row when it appears and again when it changes. It queries the store
// once a second while somebody is looking.
import { printTime } from "../../domain/print.ts";
import { within } from "../../lib/within.ts";
import type { Exchange } from "../../api/exchange.ts";
import type { AskedTail } from "../../api/rooms.ts";
import type { Tails } from "../../limits/tails.ts";
import type { ActivityPorts } from "../../reporting/activity.ts";
import { activityChanges, type SeenVersions } from "../../reporting/activity-changes.ts";
import type { ActivityRow } from "../../reporting/activity-rows.ts";

const ASK_MS = 1000;
const PING_MS = 15_000;
/** A person who was removed, demoted or signed out sees no later request, and the tail ends within this time. */
const STANDS_MS = 3_000;
/** After this the page opens a new tail, and its session is checked again. */
const LIVES_MS = 15 * 60_000;

/** Requests that began before a tail are followed to their end unless they are older than this. */
const RUNS_MS = 15 * 60_000;

type Followed = AskedTail &
  Pick<TailPorts, "draining"> & {
    /** Resolves when the gateway stops. */
    stopped: Promise<void>;
    /** From a browser that lost its tail: the last row that it received. */
    lastEventId: string | null;
    signal: AbortSignal;
    /** Whether the reader still may follow; false also if that cannot be checked. */
    stands(this: void): Promise<boolean>;
  };
const SILENT_SECONDS = 60;
/** The shortest idle timeout that Bun has; in practice it takes two or three seconds. */
const CUT_SECONDS = 1;

interface TailPorts {
  reports: ActivityPorts;
  tails: Tails;
  /** Aborts when the gateway stops: it waits for open responses, and a tail would never end by itself. */
  draining: AbortSignal;
}

/** Throws `Refusal` 429 or 503 if there is no place for another tail. */
export function tailResponse(
  { reports, tails, draining }: TailPorts,
  asked: AskedTail,
  { request, sending, setIdleTimeout, stands }: Exchange,
): Response {
  const { signal } = request;
  const displaced = new AbortController();
  const leave = tails.begin({
    person: asked.person,
    organization: asked.org,
    end: () => displaced.abort(),
  });
  const sent = sending(SILENT_SECONDS);
  // A tail whose client reads nothing is never pulled and cannot notice that the gateway stops, so its connection is
  // cut.
  const stopped = Promise.withResolvers<void>();
  const cut = (): void => {
    setIdleTimeout(CUT_SECONDS);
    stopped.resolve();
  };
  draining.addEventListener("abort", cut, { once: true });
  const end = (): void => {
    draining.removeEventListener("abort", cut);
    leave();
  };
  const encoder = new TextEncoder();
  const events = eventsOf(reports, {
    ...asked,
    lastEventId: request.headers.get("last-event-id"),
    signal: AbortSignal.any([signal, displaced.signal]),
    stands,
    draining,
    stopped: stopped.promise,
  });
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await events.next().catch((error: unknown) => {
        end();
        throw error;
      });
      if (!done) return controller.enqueue(encoder.encode(value));
      end();
      if (!draining.aborted) sent();
      controller.close();
    },
    cancel: end,
  });
  signal.addEventListener("abort", end, { once: true });
  return new Response(body, {
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" },
  });
}

async function* eventsOf(
  reports: ActivityPorts,
  { org: organizationId, filter, after, lastEventId, signal, stands, draining, stopped }: Followed,
): AsyncGenerator<string, void> {
  const nowMs = Date.now();
  const missedSinceMs = after !== undefined ? Date.parse(after) : (arrivedAt(lastEventId) ?? nowMs);
  const query = { ...filter, from: printTime(Math.min(missedSinceMs, nowMs - RUNS_MS)) };
  let before: SeenVersions | null = null;
  const untilMs = performance.now() + LIVES_MS;
  let pingedAtMs = performance.now();
  let stoodAtMs = performance.now();
  yield "retry: 2000\n\n";
  while (!signal.aborted && !draining.aborted && performance.now() < untilMs) {
    const look = await activityChanges(reports, { organizationId, query, before: before ?? new Map() });
    const isListed = ({ state, at }: ActivityRow): boolean =>
      state !== "running" && Date.parse(at) < missedSinceMs;
    const news = before === null ? look.rows.filter((row) => !isListed(row)) : look.rows;
    before = look.seen;
    // Checked after the query: a person who was removed before one of these requests came does not see it.
    if (news.length > 0 || performance.now() - stoodAtMs >= STANDS_MS) {
      if (!(await stands())) return;
      stoodAtMs = performance.now();
    }
    if (news.length > 0) yield news.map(eventOf).join("");
    if (performance.now() - pingedAtMs >= PING_MS) {
      pingedAtMs = performance.now();
      yield "event: ping\ndata: {}\n\n";
    }
    await within(stopped, ASK_MS);
  }
}

const eventOf = (row: ActivityRow): string => `event: row\nid: ${row.id}\ndata: ${JSON.stringify(row)}\n\n`;

/** Request ids begin with the millisecond of their arrival (UUIDv7). Null for any other id. */
function arrivedAt(requestId: string | null): number | null {
  const [, ms] = /^req_([0-9a-f]{12})7[0-9a-f]{19}$/.exec(requestId ?? "") ?? [];
  return ms === undefined ? null : Number.parseInt(ms, 16);
}
