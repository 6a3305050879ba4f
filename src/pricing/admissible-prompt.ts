// The prompt length above which no count can admit a request, so that counting stops there (money.md §6). Pure.
import type { ChatRequest } from "../domain/chat-request.ts";
import type { NanoUsd } from "../domain/money.ts";
import type { Release } from "../domain/release.ts";
import { dearestRates, fineFromNano } from "./rates.ts";

/**
 * Returns the number of prompt tokens above which the request fits no window of `releases`, or costs more than `budget`
 * (nano-USD; null: not known) on each of them, however few output tokens there are. Below it a quote may still refuse.
 */
export function admissiblePromptTokens(
  { maxTokens, n }: Pick<ChatRequest, "maxTokens" | "n">,
  releases: readonly Release[],
  budget: NanoUsd | null,
): number {
  const outputs = releases.map(({ maxOutputTokens }) => Math.min(maxTokens ?? 1, maxOutputTokens));
  const output = BigInt(Math.min(...outputs) * n);
  let most = 0;
  for (const { price, contextWindow } of releases) {
    const room = contextWindow - (maxTokens ?? 1);
    most = Math.max(most, Math.min(room, budget === null ? room : payable(budget, price, output)));
  }
  return most;
}

/**
 * Returns the prompt tokens that the budget pays in addition to the output; any number if they are
 * free. A longer prompt never costs less, though it may reach a dearer tier.
 */
function payable(budget: NanoUsd, price: Release["price"], output: bigint): number {
  if (budget < price.requestMinimum) return 0;
  const ends = [...(price.tiers ?? []).map((tier) => tier.abovePromptTokens), Number.MAX_SAFE_INTEGER];
  let most = 0;
  for (const end of ends) {
    const dearest = dearestRates(price, end);
    const left = fineFromNano(budget) - output * dearest.output - dearest.calls;
    if (left < 0n) break;
    const paid = dearest.prompt === 0n ? end : Math.min(Number(left / dearest.prompt), end);
    if (paid < most) break;
    most = paid;
    if (paid < end) break;
  }
  return most;
}
