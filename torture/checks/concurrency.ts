// A key's concurrency limit bounds what really runs: calls that nobody waits for any more count, too.
import type { Check, Violation } from "../evidence.ts";
import { touches } from "../history.ts";
import { KEY_CONCURRENT } from "../world.ts";

/** An abandoned call is cut at the provider a moment later. */
const CUT_WITHIN_MS = 250;

interface Running {
  requestId: string;
  fromMs: number;
  toMs: number;
}

/** At most `KEY_CONCURRENT` calls of a key at once on all gateways, by the provider's clock. */
export const concurrency: Check = (evidence) => {
  const { history, bill } = evidence.found;
  const calls = bill.flatMap((call): (Running & { keyId: string })[] => {
    const row = evidence.rows.get(call.request_id ?? "");
    if (row === undefined || call.outcome === "refused" || call.outcome === "running") return [];
    const fromMs = call.arrived_at_ms;
    const spared = call.outcome === "cut" ? CUT_WITHIN_MS : 0;
    const toMs = fromMs + call.seconds * 1000 - spared;
    return toMs <= fromMs ? [] : [{ requestId: row.requestId, keyId: row.keyId, fromMs, toMs }];
  });
  const undisturbed = calls.filter(({ fromMs, toMs }) => !touches(history.pauses, fromMs, toMs));
  const most = KEY_CONCURRENT;
  return [...Map.groupBy(undisturbed, ({ keyId }) => keyId)].flatMap(([keyId, mine]): Violation[] => {
    const together = mostAtOnce(mine);
    if (together.length <= most) return [];
    return [
      {
        broken: "more calls of one key ran at once than it may have unsettled",
        facts: { keyId, most, ran: together.length, requests: together.slice(0, 5) },
      },
    ];
  });
};

/** The largest set of calls that ran at the same time. */
function mostAtOnce(calls: readonly Running[]): Running[] {
  const open = new Set<Running>();
  let most: Running[] = [];
  const moments = calls
    .flatMap((call) => [
      { atMs: call.fromMs, call, begins: true },
      { atMs: call.toMs, call, begins: false },
    ])
    .sort((a, b) => a.atMs - b.atMs || Number(a.begins) - Number(b.begins));
  for (const { call, begins } of moments) {
    if (begins) open.add(call);
    else open.delete(call);
    if (open.size > most.length) most = [...open];
  }
  return most;
}
