// The live tail of the activity page: server-sent events, a row when it appears and again when it changes. It asks the
// store once a second while somebody looks, at most this many at a time.
import type { Desk } from "../../contract/desk.ts";
import { Refusal } from "../../contract/refusals.ts";

const ASK_MS = 1000;
const PING_MS = 15_000;
const ROWS = 200;
const TAILS_MAX = 100;
/** After this the page opens a new one, with its session checked again. */
const LIVES_MS = 15 * 60_000;

let open = 0;

export function tailResponse(
  desk: Pick<Desk, "activity">,
  at: { org: string; after: string | undefined; signal: AbortSignal },
): Response {
  if (open >= TAILS_MAX)
    throw new Refusal("overloaded", "Too many pages follow the activity right now.", {
      retryAfterMs: 10_000,
    });
  const encoder = new TextEncoder();
  const events = eventsOf(desk, at);
  open++;
  let ended = false;
  const end = (): void => {
    if (!ended) open--;
    ended = true;
  };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await events.next();
      if (!done) return controller.enqueue(encoder.encode(value));
      end();
      controller.close();
    },
    cancel: end,
  });
  at.signal.addEventListener("abort", end, { once: true });
  return new Response(body, {
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" },
  });
}

async function* eventsOf(
  desk: Pick<Desk, "activity">,
  { org, after, signal }: { org: string; after: string | undefined; signal: AbortSignal },
): AsyncGenerator<string, void> {
  const told = new Map<string, string>();
  const from = after ?? new Date().toISOString();
  const untilMs = Date.now() + LIVES_MS;
  let pingedAtMs = Date.now();
  yield "retry: 2000\n\n";
  while (!signal.aborted && Date.now() < untilMs) {
    const { data } = await desk.activity(org, { from, limit: ROWS });
    for (const row of data.toReversed()) {
      const text = JSON.stringify(row);
      if (told.get(row.id) === text) continue;
      told.set(row.id, text);
      yield `event: row\nid: ${row.id}\ndata: ${text}\n\n`;
    }
    for (const id of told.keys()) {
      if (told.size <= 2 * ROWS) break;
      told.delete(id);
    }
    if (Date.now() - pingedAtMs >= PING_MS) {
      pingedAtMs = Date.now();
      yield "event: ping\ndata: {}\n\n";
    }
    await Bun.sleep(ASK_MS);
  }
}
