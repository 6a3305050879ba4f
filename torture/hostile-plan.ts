// Draws what hostile tenants do, act by act: clients that leave keyed streams in bulk, so that the calls go on with
// nobody there, and prompts that are expensive to count on credits that cannot pay for them.
import type { PlannedRequest, Step } from "./plan.ts";
import type { Random } from "./random.ts";
import type { RequestPlanner } from "./request-plan.ts";

/** More than one key may have running (`KEY_CONCURRENT` of the world). */
const STREAMS_LEFT = { least: 50, most: 90 };
/** Three bytes each: by their byte bound none fits the window; by their count the smaller ones may. */
const IDEOGRAPHS = { least: 45_000, most: 400_000 };

/** The steps of one act. */
export function hostileAct(
  malice: Random,
  requests: RequestPlanner,
  { atMs, seed }: { atMs: number; seed: number },
): Step[] {
  return malice.chance(0.5) ? leaveInBulk(malice, requests, { atMs, seed }) : flood(malice, requests, atMs);
}

function leaveInBulk(
  malice: Random,
  requests: RequestPlanner,
  { atMs, seed }: { atMs: number; seed: number },
): Step[] {
  const key = requests.keyOf("crowd").id;
  return Array.from({ length: malice.between(STREAMS_LEFT.least, STREAMS_LEFT.most) }, (): Step => {
    const id = requests.newId();
    const request: PlannedRequest = {
      id,
      key,
      model: malice.pick(["slow", "drip"]),
      surface: "chat",
      stream: true,
      includeUsage: false,
      maxTokens: malice.between(16, 48),
      words: 4,
      ideographs: 0,
      idempotencyKey: `torture-${seed}-left-${id}`,
    };
    return { atMs, do: "send", request, leave: { afterMs: malice.between(20, 300) } };
  });
}

function flood(malice: Random, requests: RequestPlanner, atMs: number): Step[] {
  const key = requests.keyOf("flooder").id;
  return Array.from({ length: malice.between(2, 5) }, (): Step => {
    const request: PlannedRequest = {
      id: requests.newId(),
      key,
      model: "steady",
      surface: "chat",
      stream: malice.chance(0.5),
      includeUsage: false,
      maxTokens: 16,
      words: 1,
      idempotencyKey: null,
      ideographs: malice.between(IDEOGRAPHS.least, IDEOGRAPHS.most),
    };
    const leave = malice.chance(0.3) ? { afterMs: malice.between(5, 200) } : null;
    return { atMs, do: "send", request, leave };
  });
}
