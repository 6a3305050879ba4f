// Makes room for a request that credits, a key's limit or token limits refuse. Running requests hold and reserve for every byte of
// their prompts; they are counted exactly, and take less from the same commit on that decides again (money.md §6).
import type { Credential } from "../domain/credential.ts";
import { maxUsd, subUsd } from "../domain/money.ts";
import type { RateSubject } from "../domain/rate-limits.ts";
import type { Lowering, Shortage } from "../ledger/ledger.ts";
import { nextTurn } from "../lib/turn.ts";
import { holdOf, promptOverhead } from "../pricing/quote.ts";
import { countedOver } from "./count-prompt.ts";
import type { Admitted, Hold, Terms } from "./hold.ts";
import type { Among, RunningHolds } from "./running-holds.ts";

/** For all holds that one request makes room with; the request waits that long. */
const COUNTED_WITHIN_MS = 10_000;

/** Each running request is counted at most once, whoever asks and whatever the result. */
const counts = new WeakMap<Hold, Promise<Terms | null>>();

/**
 * Lowers as many running holds as it takes, the longest prompts first, and none if all together would not suffice. The result must
 * be committed with the next question. `exactly`: whether the missing amount is known; otherwise all of them are lowered.
 */
export async function makeRoom(
  holds: RunningHolds,
  lack: Lack,
  { exactly, ...asking }: Asking & { exactly: boolean },
): Promise<Lowering[]> {
  const { organizationId } = asking.credential;
  await nextTurn(); // requests admitted by the same commit have opened their holds by then
  const measure = lack.of === "tokens" ? TOKENS : USD;
  const gains = new Map<Hold, bigint>();
  const places = placesOf(lack, asking).map(({ among, missing }): Place => {
    const running = new Set(holds.of(organizationId, among));
    for (const hold of running) gains.set(hold, measure.atMost(hold.admitted));
    return { running, missing, gained: 0n };
  });
  if (exactly && places.some(({ running, missing }) => sumOver(running, gains) < missing)) return [];
  const untilMs = performance.now() + COUNTED_WITHIN_MS;
  const lowerings: Lowering[] = [];
  for (const [hold] of [...gains].toSorted(([, a], [, b]) => (a < b ? 1 : -1))) {
    const open = places.filter(({ gained, missing }) => !exactly || gained <= missing);
    if (open.length === 0 || performance.now() > untilMs) break;
    if (!open.some(({ running }) => running.has(hold))) continue;
    const terms = await countedOnce(hold);
    const lowering = terms === null ? null : hold.lower(terms);
    if (lowering === null) continue;
    holds.lowered(organizationId);
    lowerings.push(lowering);
    const gain = measure.gained(hold.admitted, lowering);
    for (const place of places) if (place.running.has(hold)) place.gained += gain;
  }
  return lowerings;
}

/** Who asks, and for which model; null: not known. */
interface Asking {
  credential: Credential;
  model: string | null;
}

/** Requests that count towards one limit or balance, and what they would have to give back: nano-USD or tokens. */
interface Place {
  running: ReadonlySet<Hold>;
  missing: bigint;
  gained: bigint;
}

const sumOver = (running: ReadonlySet<Hold>, gains: ReadonlyMap<Hold, bigint>): bigint =>
  [...running].reduce((sum, hold) => sum + (gains.get(hold) ?? 0n), 0n);

/** Whose running requests would have to give back how much. */
type Lack =
  | { of: "organization" | "key"; amount: bigint }
  | { of: "tokens"; limits: readonly { subject: RateSubject; missing: number }[] };

/** What would have to come back; null if nothing that comes back helps. */
export function lackOf(short: Shortage | undefined): Lack | null {
  switch (short?.of) {
    case "key_limit":
      return { of: "key", amount: short.missing };
    case "tokens_per_minute": {
      const { tokens, limits } = short;
      return {
        of: "tokens",
        limits: limits.map(({ subject, remaining }) => ({ subject, missing: tokens - remaining })),
      };
    }
    case "credits":
      return short.debt > 0n ? null : { of: "organization", amount: subUsd(short.required, short.available) };
    case undefined:
      return null;
  }
}

function placesOf(lack: Lack, asking: Asking): { among: Among; missing: bigint }[] {
  if (lack.of === "tokens")
    return lack.limits.map(({ subject, missing }) => ({
      among: amongOf(subject, asking),
      missing: BigInt(missing),
    }));
  return [{ among: amongOf(lack.of, asking), missing: lack.amount }];
}

const amongOf = (subject: RateSubject, { credential, model }: Asking): Among => ({
  keyId: subject === "key" || subject === "key_model" ? credential.keyId : null,
  model: subject === "model" || subject === "key_model" ? model : null,
});

/** The most that running requests of this process could give back to a token limit. */
export function reclaimableTokens(
  holds: RunningHolds,
  { subject, ...asking }: Asking & { subject: RateSubject },
): number {
  let tokens = 0n;
  for (const { admitted } of holds.of(asking.credential.organizationId, amongOf(subject, asking)))
    tokens += TOKENS.atMost(admitted);
  return Number(tokens);
}

/** What a hold that is lowered gives back: at most, and by a count of its prompt. */
interface Measure {
  atMost(admitted: Admitted): bigint;
  gained(admitted: Admitted, to: Terms): bigint;
}

const USD: Measure = {
  atMost: (admitted) => USD.gained(admitted, termsOf(admitted, leastPrompt(admitted))),
  gained: ({ amount }, { hold }) => (hold < amount ? amount - hold : 0n),
};

const TOKENS: Measure = {
  atMost: (admitted) => BigInt(Math.max(0, admitted.promptTokensMax - leastPrompt(admitted))),
  gained: ({ promptTokensMax }, { promptBound }) => BigInt(Math.max(0, promptTokensMax - promptBound)),
};

/** As if the prompt consisted only of the flat overheads. */
function leastPrompt({ candidates }: Admitted): number {
  let most = 0;
  for (const { body, release } of candidates) most = Math.max(most, promptOverhead(body.size, release));
  return most;
}

function countedOnce(hold: Hold): Promise<Terms | null> {
  const known = counts.get(hold);
  if (known !== undefined) return known;
  const { candidates, organizationId } = hold.admitted;
  const share = { organizationId, lane: "progress" } as const;
  const count = countedOver(
    candidates,
    { ...share, atMost: Number.POSITIVE_INFINITY },
    COUNTED_WITHIN_MS,
  ).then(({ kind, tokens }) => (kind === "exact" ? termsOf(hold.admitted, tokens) : null));
  counts.set(hold, count);
  return count;
}

/** What its remaining worst case costs on the dearest of its candidates: this prompt, all of its output, the minimum. */
function termsOf({ candidates, outputTokensMax }: Admitted, promptTokens: number): Terms {
  const holds = candidates.map(({ release }) => holdOf(release.price, promptTokens, outputTokensMax));
  return { hold: holds.reduce(maxUsd), promptBound: promptTokens };
}
