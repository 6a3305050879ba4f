// Makes room for a request that credits or a key's limit refuse. Running requests hold for every byte of their prompts; they are
// counted exactly, and hold less from the same commit on that decides again (money.md §6).
import type { Credential } from "../domain/credential.ts";
import { addUsd, maxUsd, type NanoUsd, subUsd, ZERO_USD } from "../domain/money.ts";
import type { Lowering, Shortage } from "../ledger/ledger.ts";
import { nextTurn } from "../lib/turn.ts";
import { holdOf, promptOverhead } from "../pricing/quote.ts";
import { countedOver } from "./count-prompt.ts";
import type { Admitted, Hold, Terms } from "./hold.ts";
import type { RunningHolds } from "./running-holds.ts";

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
  { of, amount: missing }: Lack,
  { credential, exactly }: { credential: Credential; exactly: boolean },
): Promise<Lowering[]> {
  const { organizationId, keyId } = credential;
  await nextTurn(); // requests admitted by the same commit have opened their holds by then
  const running = holds.of(organizationId, of === "key" ? keyId : null);
  const gains = running.map((hold) => ({ hold, atMost: gainAtMost(hold.admitted) }));
  if (exactly && gains.reduce((sum, { atMost }) => addUsd(sum, atMost), ZERO_USD) < missing) return [];
  const untilMs = performance.now() + COUNTED_WITHIN_MS;
  const lowerings: Lowering[] = [];
  let gained = ZERO_USD;
  for (const { hold } of gains.toSorted((a, b) => (a.atMost < b.atMost ? 1 : -1))) {
    if ((exactly && gained > missing) || performance.now() > untilMs) break;
    const terms = await countedOnce(hold);
    const lowering = terms === null ? null : hold.lower(terms);
    if (lowering === null) continue;
    holds.lowered(organizationId);
    lowerings.push(lowering);
    gained = addUsd(gained, subUsd(hold.admitted.amount, lowering.hold));
  }
  return lowerings;
}

/** Whose running requests would have to give back how much. */
interface Lack {
  of: "organization" | "key";
  amount: NanoUsd;
}

/** What would have to come back; null if nothing that comes back helps. */
export function lackOf(short: Shortage | undefined): Lack | null {
  if (short?.of === "key_limit") return { of: "key", amount: short.missing };
  if (short?.of !== "credits" || short.debt > 0n) return null;
  return { of: "organization", amount: subUsd(short.required, short.available) };
}

/** As if its prompt consisted only of the flat overheads. */
function gainAtMost(admitted: Admitted): NanoUsd {
  const overheads = admitted.candidates.map(({ body, release }) => promptOverhead(body.size, release));
  const least = termsOf(admitted, Math.max(...overheads)).hold;
  return least < admitted.amount ? subUsd(admitted.amount, least) : ZERO_USD;
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
